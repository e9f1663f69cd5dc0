/** The three tiers at a glance: what is in focus in full, the rest in a line each. */

import { byId, day, el, feelings, fill, plain } from "./element.js";

const TITLES = { focus: "Focus", peripheral: "Peripheral", background: "Background" };

function line(node, choose, look) {
  const button = el("button", { type: "button", className: "memory" },
    el("i", { className: "swatch round", style: `background:var(--${node.level})`, title: node.level }),
    el("span", { className: "name" }, node.name),
    el("span", { className: "figure" }, (node.consciousness_adjusted_score ?? node.relevance_score).toFixed(2)));
  button.addEventListener("click", () => choose(node));
  button.addEventListener("pointerenter", () => look(node));
  button.addEventListener("focus", () => look(node));
  return button;
}

function card(node, choose, look) {
  return el("li", { className: "card" }, line(node, choose, look),
    el("p", { className: "words" }, node.description),
    el("p", { className: "small" }, `${plain(node.node_type)} · ${day(node.valid_at)}`,
      node.invalid_at && ` to ${day(node.invalid_at)}`, node.overtaken_at && ` · held until ${day(node.overtaken_at)}, it seems`,
      node.duplicates?.length > 0 && ` · said ${node.duplicates.length + 1} times`, node.resolution_state && ` · ${plain(node.resolution_state)}`),
    feelings(node.emotion_vector));
}

/** Show the tiers; `choose` opens a memory, `look` highlights it in the graph. */
export function showTiers(stream, choose, look) {
  const parts = Object.entries(TITLES).map(([tier, name]) => {
    const nodes = stream.activation_tiers[tier];
    const title = stream.nothing_fits && tier === "peripheral" ? "Nearest" : name;
    const list = el("ol", { className: tier }, nodes.map((node) => (
      tier === "focus" ? card(node, choose, look) : el("li", {}, line(node, choose, look)))));
    return el("details", { open: tier !== "background", className: "tier" },
      el("summary", {}, title, el("small", {}, ` ${nodes.length}`)), nodes.length ? list : null);
  });
  if (stream.nothing_fits) parts.unshift(el("p", { className: "empty" }, "Nothing fits the question. The nearest:"));
  const any = Object.values(stream.activation_tiers).some((nodes) => nodes.length);
  fill(byId("tiers"), any ? parts : el("p", { className: "empty" },
    "Nothing came to mind. Was anything remembered then? Move the sliders to now, or ask otherwise."));
}
