/** The traversal graph: focus inside, the rest in rings around it; cytoscape draws, lays out and zooms. */

import { byId, el, fill, plain } from "./element.js";
import { NARROW_PX, places } from "./rings.js";
import { colour } from "./theme.js";

const SIZE = { focus: 34, peripheral: 20, background: 12 };
const MARGIN = { across: 48, down: 72 };
const KINDS = 6;
/** From this many links on, links are drawn paler, so that nodes below them can be seen. */
const MANY = 120;
const NAME_LENGTH = 44;

let library = null;
let cy = null;
let chosen = () => {};
/** The keys that stay highlighted when the pointer leaves a memory. */
let held = null;

/** Fetch the drawing library; it is not needed for the first paint. */
export function load() {
  library ??= import("/static/vendor/cytoscape.esm.min.mjs").then((module) => module.default);
  return library;
}

/** `listener` is called with the key of a memory that was chosen in the drawing. */
export function whenChosen(listener) {
  chosen = listener;
}

export const keyOf = (level, id) => `${level} ${id}`;

/** The active memories, those on suggested paths, and the links between them. */
export function drawn(stream) {
  const tiers = stream.activation_tiers;
  const names = new Map();
  for (const tier of Object.keys(SIZE)) {
    for (const node of tiers[tier]) names.set(keyOf(node.level, node.node_id), [node.name, tier]);
  }
  const { nodes, edges, suggested_paths: paths } = stream.traversal_graph;
  const onPath = new Set(paths.flatMap((path) => path.path_nodes.map((id) => keyOf(path.path_id.slice(0, 2), id))));
  const shown = nodes.filter((node) => names.has(keyOf(node.level, node.node_id))
    || onPath.has(keyOf(node.level, node.node_id)));
  const keys = new Set(shown.map((node) => keyOf(node.level, node.node_id)));
  const ends = (edge) => [keyOf(edge.level, edge.source_id), keyOf(edge.level, edge.target_id)];
  return { names, shown, links: edges.filter((edge) => ends(edge).every((end) => keys.has(end))), ends };
}

const short = (name) => (name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1).trimEnd()}…` : name);

function elements({ names, shown, links, ends }, colours) {
  const nodes = shown.map((node) => {
    const id = keyOf(node.level, node.node_id);
    const [name, tier] = names.get(id) ?? [node.content, "background"];
    return { data: { id, name: short(name), tier, level: node.level, active: node.activation_score } };
  });
  const edges = links.map((link) => {
    const [source, target] = ends(link);
    return { data: { id: keyOf(link.level, link.edge_id), source, target, kind: link.relation_type,
      energy: link.energy, colour: colours.get(link.relation_type) ?? "link-other" } };
  });
  return [...nodes, ...edges];
}

/** The most frequent kinds of link, each with the name of its colour. */
function palette(links) {
  const counts = new Map();
  for (const { relation_type: kind } of links) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const common = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  return { common, colours: new Map(common.slice(0, KINDS).map(([kind], at) => [kind, `link-${at}`])) };
}

function style() {
  const narrow = cy.width() < NARROW_PX;
  const size = (node) => SIZE[node.data("tier")] * (0.75 + 0.4 * node.data("active")) * (narrow ? 0.7 : 1);
  const ink = colour("ink");
  const of = (name) => colour(name);
  return [
    { selector: "node", style: { width: size, height: size, "border-width": 2,
      "border-color": of("paper"), "background-color": (node) => of(node.data("level")),
      "background-opacity": (node) => ({ focus: 1, peripheral: 0.85, background: 0.55 })[node.data("tier")],
      label: "", color: ink, "font-size": narrow ? 10 : 12, "font-family": "system-ui, sans-serif",
      "text-wrap": "wrap", "text-max-width": narrow ? "74px" : "112px", "text-valign": "bottom", "text-margin-y": 5,
      "text-background-color": of("paper"), "text-background-opacity": 0.82, "text-background-padding": "2px" } },
    { selector: 'node[tier = "focus"]', style: { label: "data(name)", "font-weight": 600, "z-index": 9 } },
    { selector: "edge", style: { "curve-style": "bezier", "line-color": (edge) => of(edge.data("colour")),
      "target-arrow-color": (edge) => of(edge.data("colour")), "target-arrow-shape": "triangle", "arrow-scale": 0.7,
      width: (edge) => 0.6 + 3 * edge.data("energy"), "line-opacity": cy.edges().length > MANY ? 0.32 : 0.5 } },
    { selector: ".dim", style: { opacity: 0.13, label: "" } },
    { selector: "node.lit", style: { label: "data(name)", "border-color": ink, "z-index": 20 } },
    { selector: "edge.lit", style: { "line-opacity": 1, width: (edge) => 2 + 3 * edge.data("energy"), "z-index": 19 } },
    { selector: "edge.path", style: { "line-color": of("accent"), "target-arrow-color": of("accent") } },
    { selector: "node.path", style: { "border-color": of("accent"), "border-width": 4 } },
  ];
}

/** Redraw in the colours of the theme. */
export function recolour() {
  cy?.style(style());
}

function legend(common, colours) {
  const levels = [["N1", "personal"], ["N2", "collective"], ["N3", "ecosystem"]];
  const swatch = (name, kind) => el("i", { className: `swatch ${kind}`, style: `background:var(--${name})` });
  const others = common.slice(KINDS).reduce((sum, [, count]) => sum + count, 0);
  fill(byId("legend"),
    levels.map(([level, name]) => el("span", {}, swatch(level, "round"), name)),
    common.slice(0, KINDS).map(([kind, count]) => {
      const button = el("button", { type: "button", "aria-pressed": "false" }, swatch(colours.get(kind), "flat"),
        `${plain(kind)} `, el("small", {}, count));
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") === "true";
        calm();
        if (!on) light(cy.edges().filter((edge) => edge.data("kind") === kind));
        button.setAttribute("aria-pressed", String(!on));
      });
      return button;
    }),
    others > 0 && el("span", {}, swatch("link-other", "flat"), "other ", el("small", {}, others)));
}

/** Show a stream. */
export async function draw(stream) {
  const cytoscape = await load();
  const seen = drawn(stream);
  const { common, colours } = palette(seen.links);
  const place = byId("graph");
  place.dataset.nodes = seen.shown.length;
  place.dataset.links = seen.links.length;
  byId("graph-empty").hidden = seen.shown.length > 0;
  place.setAttribute("aria-label", seen.shown.length
    ? `${seen.shown.length} memories and ${seen.links.length} links between them. The list of memories says the same.`
    : "No memory is active");
  held = null;
  cy?.destroy();
  cy = cytoscape({ container: place, elements: elements(seen, colours), minZoom: 0.15, maxZoom: 4,
    autoungrabify: true, boxSelectionEnabled: false });
  arrange();
  legend(common, colours);
  cy.on("tap", "node", (event) => chosen(event.target.id()));
  cy.on("tap", (event) => event.target === cy && calm());
  cy.on("mouseover", "node", (event) => light(event.target.closedNeighborhood()));
  cy.on("mouseout", "node", resume);
}

/** Arrange the nodes in rings by tier that fill the drawing. */
function arrange() {
  const at = places(cy.nodes().map((node) => node.data()), cy.edges().map((edge) => [edge.data("source"), edge.data("target")]),
    cy.width() - MARGIN.across, cy.height() - MARGIN.down);
  cy.layout({ name: "preset", positions: (node) => at.get(node.id()), fit: false }).run();
  cy.viewport({ zoom: 1, pan: { x: cy.width() / 2, y: cy.height() / 2 - 10 } });
  cy.style(style());
}

function light(some, how = "lit") {
  const all = some.union(some.connectedNodes());
  cy.elements().removeClass("lit path").addClass("dim");
  all.removeClass("dim").addClass(how === "path" ? "lit path" : "lit");
}

/** Remove every highlight. */
export function calm() {
  held = null;
  cy?.elements().removeClass("dim lit path");
  for (const button of byId("legend").querySelectorAll("button")) button.setAttribute("aria-pressed", "false");
}

function resume() {
  const keys = held;
  calm();
  if (keys) hold(keys);
}

function hold(keys) {
  held = keys;
  const some = cy.collection().union(keys.ids.reduce((all, id) => all.union(cy.getElementById(id)), cy.collection()));
  light(keys.how === "path" ? some : some.closedNeighborhood(), keys.how);
}

/** Highlight a memory and its neighbours. */
export function show(level, id) {
  if (cy?.getElementById(keyOf(level, id)).nonempty()) hold({ ids: [keyOf(level, id)], how: "lit" });
}

/** Highlight a path of thought. */
export function trace(path) {
  const level = path.path_id.slice(0, 2);
  hold({ ids: [...path.path_nodes, ...path.path_edges].map((id) => keyOf(level, id)), how: "path" });
  byId("graph").dataset.lit = cy.$("node.path").length;
}

/** Wire the buttons beside the drawing, and fit the drawing when its size changes. */
export function tools() {
  const zoom = (by) => cy?.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  byId("nearer").addEventListener("click", () => zoom(1.3));
  byId("farther").addEventListener("click", () => zoom(1 / 1.3));
  byId("fit").addEventListener("click", () => cy && arrange());
  let waiting = 0;
  new ResizeObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(() => cy && (cy.resize(), arrange()), 150);
  }).observe(byId("graph"));
}
