/** A small chart of the quality of each graph over time: how complete its metadata was at each check. */

import { day, el, shape } from "./element.js";

const WIDTH = 320;
const HEIGHT = 64;
const EDGE = 6;

/** The places of the checks: time goes to the right, completeness up. One check alone stands in the middle. */
function places(summaries) {
  const times = summaries.map((summary) => Date.parse(summary.swept_at));
  const [first, last] = [times[0], times.at(-1)];
  const at = (time) => (last > first ? (time - first) / (last - first) : 0.5);
  return summaries.map((summary, place) => ({
    x: EDGE + at(times[place]) * (WIDTH - 2 * EDGE),
    y: EDGE + (1 - summary.average_completeness) * (HEIGHT - 2 * EDGE),
  }));
}

const said = (summary) => `${day(summary.swept_at)}: ${summary.quality_grade ?? "no grade"}, `
  + `${Math.round(100 * summary.average_completeness)} % complete`;

function chart(series) {
  const points = places(series.summaries);
  const line = shape("polyline", { class: "line", points: points.map(({ x, y }) => `${x},${y}`).join(" ") });
  const dots = points.map(({ x, y }, place) => {
    const summary = series.summaries[place];
    return shape("circle", { class: summary.quality_grade ?? "ungraded", cx: x, cy: y, r: 3.5 },
      shape("title", {}, said(summary)));
  });
  const label = `${series.level}, completeness at ${points.length} check${points.length === 1 ? "" : "s"}; last ${said(series.summaries.at(-1))}`;
  return shape("svg", { class: "trend", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    line, ...dots);
}

/** The chart of each graph that was checked before. */
export function trend(answer) {
  const checked = answer.series.filter((series) => series.summaries.length);
  if (!checked.length) return [el("p", { className: "empty" }, "It was never checked as a whole.")];
  return checked.map((series) => el("figure", {}, chart(series), el("figcaption", { className: "small" },
    `${series.level} · last ${said(series.summaries.at(-1))}`,
    series.fallen_from ? el("b", { className: "poor" }, ` · fell from ${series.fallen_from}`) : null)));
}
