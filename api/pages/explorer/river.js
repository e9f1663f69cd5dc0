/**
 * The life of a citizen as a river: it flows from the first week on the left to now on the right. It is as wide as
 * much was lived, coloured by what was felt, bright where there was energy. Knots are beliefs that changed; what lies
 * below is what upkeep made of many memories.
 */

import { byId, button, count, day, el, fill, shape } from "./element.js";
import { tint } from "./feelings.js";

const WEEK_MS = 604_800_000;
/** Half the thumb of a slider: its middle reaches not quite from edge to edge, and so does the river. */
export const EDGE = 8;
/** So many feelings have a band of their own, and so many are named beside the river. */
const [BANDS, NAMED] = [11, 7];
/** Knots nearer than this are one. */
const KNOT_PX = 12;

let life = null;
let knots = [];
let chosen = () => {};

/** `listener` is called with the beliefs of a knot that was pressed. */
export function whenKnot(listener) {
  chosen = listener;
}

/** The span of the river: from its first week until now. */
export function span() {
  const until = Date.now();
  const first = life?.weeks.length ? Date.parse(life.weeks[0].start) : until - WEEK_MS;
  return [until - first < WEEK_MS ? first - WEEK_MS : first, until]; // a life of days has a week before it to spring from
}

/** Every week from the first to now, also those in which nothing began. */
function everyWeek() {
  const [from, until] = span();
  const lived = new Map(life.weeks.map((week) => [Date.parse(week.start), week]));
  const weeks = [];
  for (let at = from; at < until; at += WEEK_MS) {
    weeks.push({ at, ...(lived.get(at) ?? { memories: 0, energy: 0, emotions: {}, generalisations: 0 }) });
  }
  return weeks;
}

/** The feelings of most memories, the most common in the middle, so that the river is calm at its edges. */
function layersOf(weeks) {
  const sums = new Map();
  for (const { emotions } of weeks) {
    for (const [name, felt] of Object.entries(emotions)) sums.set(name, (sums.get(name) ?? 0) + felt);
  }
  const common = [...sums].sort((a, b) => b[1] - a[1]).slice(0, BANDS).map(([name]) => name);
  const order = common.reduce((all, name, at) => (at % 2 ? [...all, name] : [name, ...all]), []);
  return { common, order: [...order, null] };
}

/** A curve through points that never swings beyond them. */
const curve = (points) => points.slice(1).map(([x, y], at) => {
  const [before, height] = points[at];
  const middle = ((before + x) / 2).toFixed(1);
  return `C${middle},${height.toFixed(1)} ${middle},${y.toFixed(1)} ${x.toFixed(1)},${y.toFixed(1)}`;
}).join("");

const band = (top, bottom) => {
  const back = bottom.toReversed();
  return `M${top[0][0]},${top[0][1].toFixed(1)}${curve(top)}L${back[0][0]},${back[0][1].toFixed(1)}${curve(back)}Z`;
};

/** A fill that is bright in weeks of much energy and pale in weeks of little. */
function water(id, colour, weeks, xs, width) {
  const step = Math.ceil(weeks.length / 80);
  const stops = weeks.map((week, at) => [week, at]).filter(([, at]) => at % step === 0).map(([week, at]) => shape("stop", {
    offset: (xs[at] / width).toFixed(4), "stop-color": colour, "stop-opacity": (0.42 + 0.58 * Math.min(1, week.energy * 1.3)).toFixed(2) }));
  return shape("linearGradient", { id, x1: 0, x2: width, y1: 0, y2: 0, gradientUnits: "userSpaceOnUse" }, ...stops);
}

const MONTH = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });

/** Where months, or of a long life years, begin. */
function marks(at, width, height) {
  const [from, until] = span();
  const yearly = until - from > 800 * 86_400_000;
  const begun = new Date(from);
  const found = [];
  let last = -Infinity;
  for (let month = begun.getUTCMonth() + 1; ; month += 1) {
    const time = Date.UTC(begun.getUTCFullYear(), month, 1);
    if (time > until) return found;
    const place = new Date(time);
    const x = at(time);
    if ((yearly && place.getUTCMonth() !== 0) || x - last < 46 || x > width - 62) continue;
    last = x;
    const said = yearly || place.getUTCMonth() === 0 ? String(place.getUTCFullYear()) : MONTH.format(place);
    found.push(shape("line", { class: "tick", x1: x, x2: x, y1: 0, y2: height - 15 }),
      shape("text", { class: "month", x: x + 4, y: height - 4 }, said));
  }
}

/** Draw the river anew: for other sizes, colours or knots. */
export function redraw() {
  const place = byId("water");
  if (!life?.weeks.length) return fill(place);
  const [width, height] = [place.clientWidth, place.clientHeight];
  if (!width) return undefined;
  const weeks = everyWeek();
  const [from, until] = span();
  const at = (time) => EDGE + ((time - from) / (until - from)) * (width - 2 * EDGE);
  const xs = weeks.map((week) => at(Math.min(week.at + WEEK_MS / 2, until)));
  const flow = weeks.map((week) => week.memories ** 0.7 * (0.4 + 0.6 * week.energy));
  const most = Math.max(...flow, 0.01);
  const room = height - 34;
  const middle = 8 + room / 2;
  const wide = flow.map((much) => 3 + (much / most) * (room - 6));
  // It springs from a point, and flows on to this moment as wide as its last week.
  xs.unshift(EDGE); wide.unshift(0.5); weeks.unshift({ ...weeks[0], generalisations: 0 });
  xs.push(width - EDGE); wide.push(wide.at(-1)); weeks.push(weeks.at(-1));
  const { common, order } = layersOf(weeks);
  const edges = weeks.map((week, place_) => {
    const felt = order.map((name) => (name ? week.emotions[name] ?? 0 : 0));
    const all = felt.reduce((sum, each) => sum + each, 0);
    if (!all) felt[felt.length - 1] = 1;
    const sum = all || 1;
    let y = middle - wide[place_] / 2;
    return [y, ...felt.map((each) => (y += (each / sum) * wide[place_]))];
  });
  const line = (layer) => edges.map((heights, place_) => [xs[place_], heights[layer]]);
  const drawing = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const colours = shape("defs", {});
  const deep = weeks.map((week, place_) => [xs[place_], middle + wide[place_] / 2 + Math.min(18, 5 * Math.sqrt(week.generalisations))]);
  drawing.append(colours, ...marks(at, width, height),
    shape("path", { class: "deep", d: band(line(order.length), deep) }));
  order.forEach((name, layer) => {
    const id = `water-${layer}`;
    colours.append(water(id, name ? tint(name) : "var(--unfelt)", weeks, xs, width));
    drawing.append(shape("path", { class: name ? "band" : "band unfelt", fill: `url(#${id})`, d: band(line(layer), line(layer + 1)) }));
  });
  drawing.append(shape("circle", { class: "here", cx: width - EDGE, cy: middle, r: 4 }));
  fill(place, drawing, knotted(at, middle));
  fill(byId("felt"), common.slice(0, NAMED).map((name) => el("li", {}, el("i", { className: "swatch", style: `background:${tint(name)}` }), name)),
    el("li", {}, el("i", { className: "swatch knot-of" }), "a belief changed"));
  return undefined;
}

/** The knots. They are for the pointer: the same beliefs stand under Beliefs, where keys reach them. */
function knotted(at, middle) {
  const [from] = span();
  const groups = [];
  for (const change of knots) {
    const x = at(Math.max(from, Date.parse(change.corrected_at)));
    const last = groups.at(-1);
    if (last && x - last.x < KNOT_PX) last.changes.push(change);
    else groups.push({ x, changes: [change] });
  }
  return groups.map(({ x, changes }) => {
    const wrong = changes.some((change) => change.dissonance_type === "discovered_false");
    const said = changes.length > 1 ? `${changes.length} beliefs changed: ${changes.map((each) => each.node_name).join(" · ")}`
      : `${changes[0].node_name}: ${wrong ? "found to be wrong" : "the world changed"}`;
    return button({ className: `knot${wrong ? " wrong" : ""}${changes.length > 1 ? " many" : ""}`, tabIndex: -1, title: said,
      "aria-hidden": "true", style: `left:${x}px;top:${middle}px` }, () => chosen(changes));
  });
}

const strongest = (emotions) => Object.entries(emotions).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name]) => name);

/** What stands at a place of the river, between 0 and 1, in words. */
function told(part) {
  const [from, until] = span();
  const time = from + part * (until - from);
  const week = life.weeks.findLast((each) => Date.parse(each.start) <= time);
  const lived = week && time - Date.parse(week.start) < WEEK_MS ? week : null;
  return lived ? [`Week of ${day(lived.start)}`, `${count(lived.memories, "memory", "memories")}, energy ${lived.energy.toFixed(2)}`
    + `${strongest(lived.emotions).length ? ` · ${strongest(lived.emotions).join(", ")}` : ""}`] : [day(time), "nothing was told of this week"];
}

/** Wire the river: it says what lies under the pointer, and is drawn again when its size changes. */
export function wire() {
  const [place, hint] = [byId("river"), byId("hint")];
  place.addEventListener("pointermove", (event) => {
    if (!life?.weeks.length || event.pointerType === "touch") return;
    const box = byId("water").getBoundingClientRect();
    const x = event.clientX - box.left;
    hint.hidden = event.clientY > box.bottom;
    const [when, what] = told(Math.min(1, Math.max(0, (x - EDGE) / (box.width - 2 * EDGE))));
    fill(hint, el("b", {}, when), el("span", {}, what));
    hint.style.left = `${Math.min(Math.max(x, 110), box.width - 110)}px`;
  });
  place.addEventListener("pointerleave", () => { hint.hidden = true; });
  new ResizeObserver(redraw).observe(byId("water"));
}

/** Show a life; null for none. Knots come later, when the beliefs have been read. */
export function show(read) {
  life = read;
  knots = [];
  redraw();
}

/** The same life, further on: its knots stay. */
export function grow(read) {
  life = read;
  redraw();
}

export function tie(changes) {
  knots = changes;
  redraw();
}
