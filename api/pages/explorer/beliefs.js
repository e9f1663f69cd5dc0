/** Beliefs that changed: before, after, the reason and the feelings. */

import { el, feelings, minute } from "./element.js";
import { get, ofCitizen, post, whole } from "./service.js";

const REASON = { reality_changed: "The world changed", discovered_false: "Found to be wrong" };

function changed(moment, choose) {
  const open = el("button", { type: "button", className: "link" }, moment.node_name);
  open.addEventListener("click", () => choose({ level: moment.level, node_id: moment.node_id }));
  return el("li", { className: "card belief" },
    el("p", { className: "small" }, el("b", {}, REASON[moment.dissonance_type]), ` · ${minute(moment.corrected_at)}`),
    open,
    el("p", { className: "before" }, el("b", {}, "Before"), el("del", {}, moment.original_belief)),
    el("p", { className: "after" }, el("b", {}, "After"), el("ins", {}, moment.corrected_belief)),
    el("p", { className: "small" }, moment.correction_trigger), feelings(moment.discovery_emotions));
}

const FATES = [["same", "as it was"], ["closed", "closed since"], ["erased", "erased since"],
  ["only_then", "found only then"], ["only_now", "found only now"]];

/** One stream of the citizen; a click asks it again, as known then, and says what became of its memories. */
function streamLine(stream) {
  const open = el("button", { type: "button", className: "link" }, stream.asked);
  const outcome = el("span", { className: "small" }, ` · ${minute(stream.asked_at)} · showed ${stream.shown}`);
  open.addEventListener("click", async () => {
    const replay = await post(`/v1/streams/${encodeURIComponent(stream.stream_id)}/replay`).catch((error) => error);
    const counts = FATES.map(([fate, words]) => [replay.memories?.filter((memory) => memory.fate === fate).length, words]);
    outcome.textContent = ` · ${replay.memories ? counts.filter(([count]) => count).map((each) => each.join(" ")).join(", ") || "nothing" : replay.message}`;
  });
  return el("li", {}, open, outcome);
}

/** None is kept of a citizen of whom nothing is remembered: the service answers 404, which is no trouble here. */
async function lastStreams(citizen) {
  const { streams } = await get(ofCitizen(citizen, "streams"), { limit: 10 }).catch((problem) => {
    if (problem.status === 404) return { streams: [] };
    throw problem;
  });
  if (!streams.length) return null;
  return [el("h3", {}, "What it was asked: what did it know then?"), el("ol", { className: "plain" }, streams.map(streamLine))];
}

/** The changed beliefs of a citizen, latest first; `choose` opens a memory. */
export async function beliefs(citizen, choose) {
  const [learned, streams] = await Promise.all([
    whole(ofCitizen(citizen, "dissonances"), "dissonances"), lastStreams(citizen)]);
  if (!learned.dissonances.length) return [el("p", { className: "empty" }, `${citizen} has changed no belief yet.`), streams];
  const counts = new Map();
  for (const { correction_pattern_id: pattern } of learned.dissonances) {
    if (pattern) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  const recurring = [...counts].filter(([, count]) => count > 1);
  return [
    recurring.length ? el("p", { className: "small" }, "Corrected more than once by the same: ",
      recurring.map(([pattern, count]) => `${pattern} (${count})`).join(", ")) : null,
    el("ol", { className: "plain" }, learned.dissonances.toReversed().map((moment) => changed(moment, choose))),
    streams,
  ];
}
