/** The three tiers at a glance: what is in focus in full, the rest in a line each. */

import { byId, day, el, fill, plain } from "./element.js";
import { dominant, feelings, tint } from "./feelings.js";
import { initials, isPerson, title } from "./titles.js";

const TITLES = { focus: "Focus", peripheral: "Peripheral", background: "Background" };
export const LEVELS = { N1: "personal", N2: "collective", N3: "ecosystem" };

/** Below this the best answer is more likely wrong than right. */
const WEAK = 0.5;

/** How good an answer is: `none`, `weak` or `good`, with a sentence. */
export function verdict(stream) {
  const any = Object.values(stream.activation_tiers).some((nodes) => nodes.length);
  if (!any) return ["empty", "Nothing came to mind."];
  if (stream.nothing_fits) return ["none", "Nothing fits. These are only the nearest."];
  const sure = stream.answer_confidence;
  if (sure !== null && sure !== undefined && sure < WEAK) return ["weak", `A weak answer: ${Math.round(100 * sure)} % sure.`];
  return ["good", ""];
}

/** The mark of a memory: initials of a person, else a dot in the colour of what it felt, in the shape of its level. */
export function dot(node) {
  const felt = dominant(node.emotion_vector);
  return isPerson(node) ? el("i", { className: "face small-face", "aria-hidden": "true", style: `--tint:${tint(node.name)}` }, initials(node.name))
    : el("i", { className: `dot-of ${node.level}`, title: `${LEVELS[node.level]}${felt ? `, ${felt}` : ""}`,
      style: `--tint:${felt ? tint(felt) : "var(--unfelt)"}` });
}

function line(node, choose, look) {
  const element = el("button", { type: "button", className: "memory" }, dot(node),
    el("span", { className: "name", dir: "auto" }, title(node)),
    el("span", { className: "figure" }, (node.consciousness_adjusted_score ?? node.relevance_score).toFixed(2)));
  element.addEventListener("click", () => choose(node));
  element.addEventListener("pointerenter", () => look(node));
  element.addEventListener("focus", () => look(node));
  return element;
}

function card(node, choose, look, was) {
  const changed = was && was !== node.description;
  return el("li", { className: `card${changed ? " flipped" : ""}`, "data-id": node.node_id }, line(node, choose, look),
    changed ? el("p", { className: "words was", dir: "auto" }, el("del", {}, was)) : null,
    el("p", { className: "words", dir: "auto" }, node.description),
    el("p", { className: "small" }, `${plain(node.node_type)} · ${day(node.valid_at)}`,
      node.invalid_at && ` to ${day(node.invalid_at)}`, node.overtaken_at && ` · held until ${day(node.overtaken_at)}, it seems`,
      node.duplicates?.length > 0 && ` · said ${node.duplicates.length + 1} times`, node.resolution_state && ` · ${plain(node.resolution_state)}`,
      node.collective && ` · ${node.collective}`),
    feelings(node.emotion_vector));
}

/**
 * Show the tiers; `choose` opens a memory, `look` highlights it in the graph. `before`: by level and id the text that
 * each memory had at the moment looked at before; a card whose text is another one turns over.
 */
export function showTiers(stream, choose, look, before = new Map()) {
  const [kind, words] = verdict(stream);
  const parts = Object.entries(TITLES).map(([tier, name]) => {
    const nodes = stream.activation_tiers[tier];
    if (!nodes.length) return null;
    const called = stream.nothing_fits && tier === "peripheral" ? "Nearest" : name;
    const list = el("ol", { className: tier }, nodes.map((node) => (tier === "focus"
      ? card(node, choose, look, before.get(`${node.level} ${node.node_id}`)) : el("li", {}, line(node, choose, look)))));
    return el("details", { open: tier !== "background", className: "tier" },
      el("summary", {}, called, el("small", {}, ` ${nodes.length}`)), list);
  });
  const place = byId("tiers");
  place.className = kind;
  fill(place, kind === "none" ? el("p", { className: "nothing" }, el("b", {}, "Nothing fits the question."), " This memory has no answer to it. The nearest it has:")
    : kind === "weak" ? el("p", { className: "nothing" }, el("b", {}, words), " It may be about something else.") : null,
  kind === "empty" ? el("p", { className: "nothing" }, el("b", {}, "Nothing came to mind."),
    " Was anything remembered then? Move the sliders to now, or ask otherwise.") : parts);
}
