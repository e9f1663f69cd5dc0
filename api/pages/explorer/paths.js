/** Paths of thought: a chosen path is highlighted in the graph. */

import { byId, el, fill, plain, share } from "./element.js";

/** Show the paths and patterns of a stream; `choose` is called with the chosen path, or null when it is deselected. */
export function showPaths(stream, choose) {
  const { suggested_paths: paths, central_themes: themes } = stream.traversal_graph;
  const buttons = paths.map((path) => {
    const button = el("button", { type: "button", className: "path", "aria-pressed": "false" },
      el("span", { className: "words" }, path.path_narrative),
      share("likelihood", path.traversal_probability), share("coherence", path.semantic_coherence));
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") === "true";
      for (const other of buttons) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", String(!on));
      choose(on ? null : path);
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
