/**
 * The traversal graph: cytoscape draws and zooms it. While time moves, what stays keeps its place and its colour; what
 * was not there yet leaves, and a memory that said something else turns over.
 */

import { byId, el, fill, plain, still } from "./element.js";
import { dominant, tint } from "./feelings.js";
import { NARROW_PX, places, seat } from "./rings.js";
import { colour } from "./theme.js";
import { initials, isPerson, title } from "./titles.js";

const SIZE = { focus: 34, peripheral: 19, background: 15 };
const MARGIN = { across: 90, down: 84 };
const KINDS = 6;
/** From this many links on, links are drawn paler, so that nodes below them can be seen. */
const MANY = 120;
const NAME_LENGTH = 44;
const SHAPES = { N1: "ellipse", N2: "round-diamond", N3: "round-hexagon" };
const MOVE_MS = 420;
const NEWS_MS = 2500;

let library = null;
let cy = null;
let chosen = () => {};
/** The keys that stay highlighted when the pointer leaves a memory. */
let held = null;
/** Where each memory of this question lies, also those that are not there at the moment looked at. */
let seats = new Map();

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
  const tierOf = new Map();
  for (const tier of Object.keys(SIZE)) {
    for (const node of tiers[tier]) tierOf.set(keyOf(node.level, node.node_id), tier);
  }
  const { nodes, edges, suggested_paths: paths } = stream.traversal_graph;
  const onPath = new Set(paths.flatMap((path) => path.path_nodes.map((id) => keyOf(path.path_id.slice(0, 2), id))));
  const shown = new Map();
  for (const node of nodes) {
    const key = keyOf(node.level, node.node_id);
    if (tierOf.has(key) || onPath.has(key)) shown.set(key, { ...node, key, tier: tierOf.get(key) ?? "background" });
  }
  const links = new Map();
  for (const link of edges) {
    const [source, target] = [keyOf(link.level, link.source_id), keyOf(link.level, link.target_id)];
    if (source !== target && shown.has(source) && shown.has(target)) links.set(keyOf(link.level, link.edge_id), { ...link, source, target });
  }
  return { shown, links };
}

const short = (name) => (name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH).replace(/\s+\S*$/u, "")}…` : name);

function nodeData(node) {
  const felt = dominant(node.emotion_vector);
  const person = isPerson(node);
  return { id: node.key, name: person ? initials(node.name) : short(title(node)), full: short(title(node)), tier: node.tier, level: node.level,
    active: node.activation_score, feeling: person ? node.name : felt ?? "", person: person ? 1 : 0, said: node.description ?? "" };
}

const edgeData = ([id, link]) => ({ id, source: link.source, target: link.target, kind: link.relation_type, energy: link.energy });

function style() {
  const narrow = cy.width() < NARROW_PX;
  const scale = narrow ? 0.72 : 1;
  const size = (node) => (node.data("person") ? Math.max(24, SIZE[node.data("tier")] * 0.9)
    : SIZE[node.data("tier")] * (0.55 + 0.65 * node.data("active"))) * scale;
  const [ink, paper, unfelt, line] = [colour("ink"), colour("paper"), colour("unfelt"), colour("link")];
  const fillOf = (node) => (node.data("feeling") ? tint(node.data("feeling")) : unfelt);
  const named = { label: "data(full)", "text-valign": "bottom", "text-margin-y": 5, color: ink };
  const edgeColour = (edge) => {
    const person = edge.connectedNodes().filter((node) => node.data("person"));
    return person.length ? fillOf(person[0]) : line;
  };
  return [
    { selector: "node", style: { width: size, height: size, shape: (node) => SHAPES[node.data("level")] ?? "ellipse",
      "border-width": 2, "border-color": paper, "background-color": fillOf,
      "background-opacity": (node) => ({ focus: 1, peripheral: 0.82, background: 0.5 })[node.data("tier")],
      label: "", color: ink, "font-size": narrow ? 10 : 12, "font-family": "Inter, system-ui, sans-serif",
      "text-wrap": "wrap", "text-max-width": narrow ? "84px" : "124px", "text-valign": "bottom", "text-margin-y": 5,
      "text-background-color": paper, "text-background-opacity": 0.86, "text-background-padding": "2px", "text-background-shape": "roundrectangle" } },
    { selector: 'node[tier = "focus"]', style: { label: "data(full)", "font-weight": 600, "z-index": 9 } },
    { selector: "node[person = 1]", style: { label: "data(name)", "font-size": narrow ? 9 : 10, "font-weight": 700, "text-valign": "center", "text-margin-y": 0,
      "text-background-opacity": 0, "background-color": paper, "background-opacity": 1, "border-color": fillOf, "border-width": 2.5, "z-index": 8 } },
    { selector: "node.doubtful", style: { "background-opacity": 0, "border-color": fillOf, "border-style": "dashed", "border-width": 1.5, "font-weight": 400 } },
    { selector: "edge", style: { "curve-style": "unbundled-bezier", "control-point-distances": (edge) => 14 + (edge.data("energy") * 18), "control-point-weights": 0.5,
      "line-color": edgeColour, "target-arrow-color": edgeColour, "target-arrow-shape": "triangle", "arrow-scale": 0.55,
      width: (edge) => 0.6 + 1.6 * edge.data("energy"), "line-opacity": cy.edges().length > MANY ? 0.3 : 0.55 } },
    { selector: "edge.doubtful", style: { "line-style": "dotted", "line-opacity": 0.3 } },
    { selector: ".dim", style: { opacity: 0.12, label: "" } },
    { selector: "node.lit", style: { ...named, "border-color": ink, "z-index": 20, "text-background-opacity": 0.9 } },
    { selector: "edge.lit", style: { "line-opacity": 1, width: (edge) => 1.6 + 2 * edge.data("energy"), "z-index": 19 } },
    { selector: "edge.path", style: { "line-color": colour("accent"), "target-arrow-color": colour("accent"), "arrow-scale": 1 } },
    { selector: "node.path", style: { "border-color": colour("accent"), "border-width": 4 } },
    { selector: "node.news", style: { ...named, "border-color": colour("accent"), "border-width": 5, "z-index": 21 } },
    { selector: "node.flipped", style: { "border-color": colour("accent"), "border-width": 4 } },
  ];
}

/** Redraw in the colours of the theme. */
export function recolour() {
  cy?.style(style());
}

/** The kinds of link, most common first; one that is pressed lights its links. */
function legend(links) {
  const counts = new Map();
  for (const { relation_type: kind } of links.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const common = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const others = common.slice(KINDS).reduce((sum, [, count]) => sum + count, 0);
  const mark = (level, name) => el("span", {}, el("i", { className: `dot-of ${level}` }), name);
  fill(byId("legend"), mark("N1", "personal"), mark("N2", "collective"), mark("N3", "ecosystem"),
    common.slice(0, KINDS).map(([kind, count]) => {
      const button = el("button", { type: "button", "aria-pressed": "false" }, `${plain(kind)} `, el("small", {}, count));
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") === "true";
        calm();
        if (!on) light(cy.edges().filter((edge) => edge.data("kind") === kind));
        button.setAttribute("aria-pressed", String(!on));
      });
      return button;
    }),
    others > 0 && el("span", {}, "other ", el("small", {}, others)));
}

const room = () => [cy.width() - MARGIN.across, cy.height() - MARGIN.down];
const moving = () => (still() ? 0 : MOVE_MS);

/** Give each memory a place; those that had one keep it. */
function seatAll(shown, links) {
  if (!seats.size) {
    seats = places([...shown.values()].map((node) => ({ id: node.key, tier: node.tier, active: node.activation_score })),
      [...links.values()].map((link) => [link.source, link.target]), ...room());
    return;
  }
  for (const node of shown.values()) {
    if (seats.has(node.key)) continue;
    const near = [...links.values()].filter((link) => [link.source, link.target].includes(node.key))
      .map((link) => seats.get(link.source === node.key ? link.target : link.source)).filter(Boolean);
    seats.set(node.key, seat(node.tier, near, [...seats.values()], ...room()));
  }
}

/** Let what is gone leave, what is new come, and what says something else turn over. */
function morph(shown, links) {
  const gone = cy.elements().filter((each) => !(each.isNode() ? shown : links).has(each.id()));
  if (moving()) gone.animate({ style: { opacity: 0 } }, { duration: MOVE_MS, complete: () => gone.remove() });
  else gone.remove();
  const fresh = [];
  for (const node of shown.values()) {
    const there = cy.getElementById(node.key);
    if (there.empty()) {
      fresh.push({ group: "nodes", data: nodeData(node), position: { ...seats.get(node.key) } });
      continue;
    }
    there.stop(true).style("opacity", 1);
    const other = there.data("said") !== (node.description ?? "");
    there.data(nodeData(node));
    there.toggleClass("flipped", other);
    if (other && moving()) {
      const width = there.width();
      there.animate({ style: { width: 2 } }, { duration: MOVE_MS / 2 }).animate({ style: { width } }, { duration: MOVE_MS / 2,
        complete: () => there.removeStyle("width") });
    }
  }
  for (const one of links) {
    const there = cy.getElementById(one[0]);
    if (there.empty()) fresh.push({ group: "edges", data: edgeData(one) });
    else there.stop(true).style("opacity", 1).data(edgeData(one));
  }
  const added = cy.add(fresh);
  if (moving()) added.style("opacity", 0).animate({ style: { opacity: 1 } }, { duration: MOVE_MS, complete: () => added.removeStyle("opacity") });
}

/** Show a stream. `same` is true when the same was asked at another moment; `kind` says how good the answer is. */
export async function draw(stream, { same, kind }) {
  const cytoscape = await load();
  const { shown, links } = drawn(stream);
  const place = byId("graph");
  place.dataset.nodes = shown.size;
  place.dataset.links = links.size;
  byId("graph-empty").hidden = shown.size > 0;
  place.setAttribute("aria-label", shown.size
    ? `${shown.size} memories and ${links.size} links between them. The list of memories says the same.`
    : "No memory is active");
  held = null;
  if (same && cy) {
    calm();
    seatAll(shown, links);
    morph(shown, links);
  } else {
    cy?.destroy();
    seats = new Map();
    cy = cytoscape({ container: place, minZoom: 0.15, maxZoom: 4, autoungrabify: true, boxSelectionEnabled: false,
      elements: [...[...shown.values()].map((node) => ({ data: nodeData(node) })), ...[...links].map((one) => ({ data: edgeData(one) }))] });
    cy.on("tap", "node", (event) => chosen(event.target.id()));
    cy.on("tap", (event) => event.target === cy && calm());
    cy.on("mouseover", "node", (event) => light(event.target.closedNeighborhood()));
    cy.on("mouseout", "node", resume);
    seatAll(shown, links);
  }
  cy.elements().toggleClass("doubtful", kind === "none" || kind === "weak");
  arrange();
  legend(links);
}

/** Put every memory in its place, the question in the middle. */
function arrange() {
  cy.nodes().positions((node) => ({ ...seats.get(node.id()) }));
  cy.viewport({ zoom: 1, pan: { x: cy.width() / 2, y: cy.height() / 2 - 6 } });
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
  if (keys.how === "path") light(some, "path");
  else light(some.closedNeighborhood());
}

/** Light memories for a moment: something just came to them. */
export function flash(places) {
  if (!cy) return;
  const some = places.reduce((all, place) => all.union(cy.getElementById(keyOf(place.level, place.id))), cy.collection());
  some.addClass("news");
  setTimeout(() => some.removeClass("news"), NEWS_MS);
}

/** Highlight a memory and its neighbours. */
export function show(level, id) {
  if (cy?.getElementById(keyOf(level, id)).nonempty()) hold({ ids: [keyOf(level, id)], how: "lit" });
}

/** Highlight the first `steps` memories of a path of thought. */
export function trace(path, steps = path.path_nodes.length) {
  const level = path.path_id.slice(0, 2);
  const ids = [...path.path_nodes.slice(0, steps), ...path.path_edges.slice(0, steps - 1)];
  hold({ ids: ids.map((id) => keyOf(level, id)), how: "path" });
  byId("graph").dataset.lit = cy.$("node.path").length;
}

/** Wire the buttons beside the drawing, and lay the drawing out again when its size changes. */
export function tools() {
  const zoom = (by) => cy?.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  byId("nearer").addEventListener("click", () => zoom(1.3));
  byId("farther").addEventListener("click", () => zoom(1 / 1.3));
  byId("fit").addEventListener("click", () => cy && arrange());
  let [waiting, before] = [0, null];
  new ResizeObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!cy || !byId("graph").clientWidth) return;
      cy.resize();
      const [width, height] = room();
      if (before) for (const each of seats.values()) Object.assign(each, { x: (each.x * width) / before[0], y: (each.y * height) / before[1] });
      before = [width, height];
      arrange();
    }, 150);
  }).observe(byId("graph"));
}
