/** Beliefs that changed, as cards that turn, and the last streams, which can be asked again as of then. */

import { button, el, minute } from "./element.js";
import { get, ofCitizen, post } from "./service.js";
import { turning } from "./turning.js";

/** Of a citizen who learned more, the first so many moments are read. */
const MOST = 1000;

/** The learning moments of a citizen, oldest first. */
export async function learned(citizen) {
  const found = [];
  let cursor;
  do {
    const page = await get(ofCitizen(citizen, "dissonances"), { limit: 500, cursor });
    found.push(...page.dissonances);
    cursor = page.next;
  } while (cursor && found.length < MOST);
  return found;
}

const FATES = [["same", "as it was"], ["closed", "closed since"], ["erased", "erased since"],
  ["only_then", "found only then"], ["only_now", "found only now"]];

/** One stream of the citizen; a click asks it again, as known then, and says what became of its memories. */
function streamLine(stream) {
  const outcome = el("span", { className: "small" }, ` · ${minute(stream.asked_at)} · showed ${stream.shown}`);
  const open = button({ className: "link", dir: "auto" }, async () => {
    const replay = await post(`/v1/streams/${encodeURIComponent(stream.stream_id)}/replay`).catch((error) => error);
    const counts = FATES.map(([fate, words]) => [replay.memories?.filter((memory) => memory.fate === fate).length, words]);
    outcome.textContent = ` · ${replay.memories ? counts.filter(([many]) => many).map((each) => each.join(" ")).join(", ") || "nothing" : replay.message}`;
  }, stream.asked);
  return el("li", {}, open, outcome);
}

/** The last streams. None is kept of a citizen of whom nothing is remembered: 404, which is no trouble here. */
export async function lastStreams(citizen, limit) {
  const { streams } = await get(ofCitizen(citizen, "streams"), { limit }).catch((problem) => {
    if (problem.status === 404) return { streams: [] };
    throw problem;
  });
  return streams;
}

/** The changed beliefs of a citizen, latest first; `choose` opens a memory. */
export async function beliefs(citizen, choose) {
  const [changes, streams] = await Promise.all([learned(citizen), lastStreams(citizen, 10)]);
  const asked = streams.length ? [el("h2", {}, "What it was asked: what did it know then?"),
    el("ol", { className: "plain" }, streams.map(streamLine))] : null;
  if (!changes.length) return [el("p", { className: "empty" }, `${citizen} has changed no belief yet.`), asked];
  const counts = new Map();
  for (const { correction_pattern_id: pattern } of changes) {
    if (pattern) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  const recurring = [...counts].filter(([, times]) => times > 1);
  return [
    recurring.length ? el("p", { className: "small" }, "Corrected more than once by the same: ",
      recurring.map(([pattern, times]) => `${pattern} (${times})`).join(", ")) : null,
    el("ol", { className: "plain cards" }, changes.toReversed().map((moment) => el("li", { className: "belief" },
      turning(moment, citizen, choose)))),
    asked,
  ];
}
