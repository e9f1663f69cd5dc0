/** The engine: its readiness, its response time, and the timings of the last answer. */

import { byId, el, fill, plain } from "./element.js";
import { get } from "./service.js";
import { trouble } from "./trouble.js";

const EVERY_MS = 10_000;

function pace(rows) {
  const most = Math.max(...rows.map(([, spent]) => spent), 1);
  return el("table", {}, el("tbody", {}, rows.map(([name, spent, note]) => el("tr", {},
    el("th", { scope: "row" }, plain(name)),
    el("td", {}, el("meter", { min: 0, max: most, value: spent, "aria-label": `${plain(name)} in milliseconds` })),
    el("td", { className: "figure" }, `${spent.toFixed(1)} ms`, note && el("small", {}, ` ${note}`))))));
}

function made(stream) {
  return [
    el("h2", {}, "How the last answer was made"),
    stream.degraded.length ? el("ul", { className: "trouble" }, stream.degraded.map((part) => (
      el("li", {}, `${plain(part.query)} is missing: ${part.reason}`)))) : null,
    el("h3", {}, "Stages"), pace(Object.entries(stream.stage_ms)),
    el("h3", {}, "Queries"), pace(stream.timings.map((timing) => (
      [timing.query, timing.milliseconds, timing.failure ?? `${timing.rows} rows`]))),
  ];
}

function facts(ready) {
  return el("dl", { className: "facts" }, [["engine", ready.engine], ["answers in", `${ready.ping_ms.toFixed(1)} ms`],
    ["graphs", ready.graphs ?? "for administrators"], ["embedding", `${ready.embedding}, ${ready.dimension} numbers`]]
    .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

async function ask() {
  const badge = byId("health");
  const panel = byId("engine-now");
  try {
    const ready = await get("/health/ready");
    badge.className = "health up";
    badge.querySelector(".said").textContent = `engine ready, ${ready.ping_ms.toFixed(1)} ms`;
    fill(panel, facts(ready));
  } catch (error) {
    badge.className = "health down";
    badge.querySelector(".said").textContent = error.status ? "engine not ready" : "no service";
    fill(panel, trouble(error));
  }
}

/** Ask the engine now, and every ten seconds while the page is visible. */
export function watch() {
  fill(byId("engine"), el("h2", {}, "Now"), el("div", { id: "engine-now" }), el("div", { id: "engine-last" },
    el("p", { className: "empty" }, "No answer yet.")));
  ask();
  setInterval(() => document.hidden || ask(), EVERY_MS);
}

/** Show the timings of a stream. */
export function showTimings(stream) {
  fill(byId("engine-last"), made(stream));
}
