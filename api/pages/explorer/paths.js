/** Paths of thought, each told as a sentence; the graph lights up with it, step by step. */

import { byId, el, fill, plain, share, still } from "./element.js";
import { title, verb } from "./titles.js";

const STEP_MS = 900;

/** The sentence of a path, in pieces: a name, then for each step a verb and a name. */
function pieces(path, memories, links) {
  const level = path.path_id.slice(0, 2);
  const find = (list, id, field) => list.find((one) => one[field] === id && one.level === level) ?? list.find((one) => one[field] === id);
  const named = (id) => `“${title(find(memories, id, "node_id") ?? { name: id })}”`;
  return path.path_nodes.map((id, at) => {
    if (at === 0) return [named(id)];
    const link = find(links, path.path_edges[at - 1], "link_id");
    const said = link ? verb(link.relation_type, link.target_id === id) : "leads to";
    return [`${at > 1 ? ", which" : ""} ${said} `, named(id)];
  });
}

/**
 * Show the paths and patterns of a stream. `choose(path, steps)` lights the first steps of a path, and all is calm
 * again with null.
 */
export function showPaths(stream, choose) {
  const { suggested_paths: paths, central_themes: themes } = stream.traversal_graph;
  const [memories, links] = [Object.values(stream.memories), Object.values(stream.links)];
  let walking = 0;
  const walk = (path, spans) => {
    clearInterval(walking);
    for (const each of document.querySelectorAll("#paths .step")) each.classList.remove("lit");
    if (!path) return choose(null);
    let step = still() ? spans.length : 1;
    const light = () => {
      spans.forEach((span, at) => span.classList.toggle("lit", at < step));
      choose(path, step);
      if (step === spans.length) clearInterval(walking);
      step += 1;
    };
    light();
    if (!still()) walking = setInterval(light, STEP_MS);
    return undefined;
  };
  const buttons = paths.map((path) => {
    const spans = pieces(path, memories, links).map((texts) => el("span", { className: "step" },
      texts.length > 1 ? [texts[0], el("b", {}, texts[1])] : el("b", {}, texts[0])));
    const button = el("button", { type: "button", className: "path", "aria-pressed": "false" },
      el("span", { className: "words", dir: "auto" }, spans, "."),
      share("likelihood", path.traversal_probability), share("coherence", path.semantic_coherence));
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") === "true";
      for (const other of buttons) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", String(!on));
      walk(on ? null : path, spans);
    });
    return button;
  });
  const patterns = stream.resolution_patterns.map((pattern) => el("li", { className: "card" },
    el("p", { className: "before" }, el("b", {}, "Blocked: "), pattern.blockage),
    el("p", { className: "after" }, el("b", {}, "Resolved by: "), pattern.resolution),
    pattern.steps.length ? el("p", { className: "small" }, `Beside it: ${pattern.steps.join(" · ")}`) : null));
  fill(byId("paths"),
    themes.length ? el("ul", { className: "chips", "aria-label": "Central themes" },
      themes.map((theme) => el("li", {}, plain(theme)))) : null,
    paths.length ? el("ol", { className: "plain" }, buttons.map((button) => el("li", {}, button)))
      : el("p", { className: "empty" }, "No path leads from one active memory to another."),
    patterns.length ? [el("h2", {}, "Ways out of a blockage"), el("ol", { className: "plain" }, patterns)] : null);
}
