/** One memory: its text and feelings, why it came to mind, its links, and its records as bars on both time axes. */

import { changes } from "./change.js";
import { button, byId, el, fill, minute, plain, share } from "./element.js";
import { feelings } from "./feelings.js";
import { historyOf, whole } from "./service.js";
import { dot, LEVELS } from "./tiers.js";
import { title, verb } from "./titles.js";
import { trouble } from "./trouble.js";

const MINUTE_MS = 60_000;

/** The names of a record's two periods, with their fields. */
const AXES = [["true", "valid_at", "invalid_at"], ["known", "created_at", "expired_at"]];

/** The span from the first to the last moment, with a margin on the right for open ends. */
function span(records, from, until) {
  const moments = records.flatMap((record) => [record[from], record[until]]).filter(Boolean).map(Date.parse);
  const [first, last] = [Math.min(...moments), Math.max(...moments, Date.now())];
  return [first, Math.max(last - first, MINUTE_MS) * 1.04];
}

function bar(record, [axis, from, until], [first, length]) {
  const begin = Math.max(0, (Date.parse(record[from]) - first) / length);
  const end = record[until] ? (Date.parse(record[until]) - first) / length : 1;
  const open = record[until] ? `until ${minute(record[until])}` : axis === "true" ? "onwards" : "until now";
  const words = `${axis === "true" ? "True" : "Known"} from ${minute(record[from])} ${open}`;
  const mark = el("span", { className: `period ${axis}${record[until] ? "" : " open"}` });
  mark.style.left = `${begin * 100}%`;
  mark.style.width = `${Math.max(end - begin, 0.012) * 100}%`;
  return el("div", { className: "axis" },
    el("span", { className: "small" }, axis),
    el("div", { className: "track", role: "img", "aria-label": words, title: words }, mark),
    el("span", { className: "small when" }, words));
}

function closedBy(record) {
  const reasons = { reality_changed: "the world changed", discovered_false: "found to be wrong" };
  const reason = reasons[record.closed_reason ?? record.invalidation_reason];
  return reason ? ` · ${reason}` : "";
}

function historyBars(records) {
  const spans = AXES.map(([, from, until]) => span(records, from, until));
  return el("ol", { className: "records" }, records.map((record) => el("li", { className: record.expired_at ? "past" : "" },
    el("p", { className: "small" }, el("b", {}, `Record ${record.version}`), closedBy(record),
      record.source === "citizen" ? "" : ` · from ${record.source}`),
    AXES.map((axis, at) => bar(record, axis, spans[at])),
    el("p", { className: "words", dir: "auto" }, record.description))));
}

function facts(node) {
  const rows = [["kind", plain(node.node_type)], ["stands", node.resolution_state && plain(node.resolution_state)],
    ["likeness", node.likeness?.toFixed(2)], ["goal", node.goal && plain(node.goal)], ["felt", node.felt_quality], ["in the body", node.body_sensation],
    ["rule", node.rule], ["severity", node.severity], ["result", node.result], ["said by", node.speaker],
    ["tags", node.tags?.map((tag) => `#${tag}`).join(" ")],
    ["nobody said", node.unset?.length ? `${node.unset.map(plain).join(", ")} (defaults stand for it)` : null]];
  return el("dl", { className: "facts" }, rows.filter(([, value]) => value)
    .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** What each part of a score means, as the end of a sentence that begins with "because". */
const BECAUSE = {
  likeness: "its meaning is near to the question", words: "it has words of the question", spread: "it is linked to what fits",
  time: "it lies in the time asked about", sitting: "it was told together with what fits",
  speaker: "it is told by whom the question is about", of_self: "somebody tells of themselves here", wish: "it is a wish of the citizen",
  seeking: "it is the latest, or the first, of its kind", kind: "it tells the kind of thing asked for",
  opening: "it opens the subject", use: "it helped before with a question like this", emotional_resonance: "it feels alike",
  priority: "it is full of energy", currency: "it holds now", state_alignment: "it fits the state", goal_alignment: "it serves the goal",
};

/** Why a memory is here, in a sentence: the two strongest reasons. */
function why(node) {
  const reasons = Object.entries(node.score_terms ?? {}).filter(([name, value]) => value > 0.02 && BECAUSE[name])
    .sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name]) => BECAUSE[name]);
  return reasons.length ? `It came to mind because ${[...new Set(reasons)].join(", and ")}.` : null;
}

function terms(node) {
  const entries = Object.entries(node.score_terms ?? {}).filter(([, value]) => value !== 0);
  if (!entries.length) return null;
  return [el("p", { className: "because" }, why(node)), el("details", {}, el("summary", {}, "Why it came to mind"), el("table", {},
    el("tbody", {}, entries.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, plain(name)),
      el("td", { className: "figure" }, value.toFixed(3)))))))];
}

const SHOWN = 12;

/** The links of a memory within the answer, each with what was felt when it was made. */
function linked(node, stream, choose) {
  const links = Object.values(stream?.links ?? {}).filter((link) => link.level === node.level
    && (link.source_id === node.node_id || link.target_id === node.node_id));
  const others = new Map(Object.values(stream?.memories ?? {}).map((each) => [`${each.level} ${each.node_id}`, each]));
  const lines = links.map((link) => {
    const forward = link.source_id === node.node_id;
    const other = others.get(`${link.level} ${forward ? link.target_id : link.source_id}`);
    return other && el("li", {}, el("span", { className: "small" }, `${verb(link.relation_type, forward)} `),
      button({ className: "link", dir: "auto" }, () => choose(other), dot(other), title(other)),
      link.felt_quality ? el("small", { dir: "auto" }, ` ${link.felt_quality}`) : null);
  }).filter(Boolean);
  return lines.length ? [el("h3", {}, "It is linked"), el("ul", { className: "plain links" }, lines.slice(0, SHOWN))] : null;
}

/**
 * Open a memory. `place` has `level` and `node_id`, and all other fields if the stream has the memory. `choose` opens
 * another one, `changed` is called when it was changed here.
 */
export async function openMemory(place, { citizen, stream, choose, changed }) {
  const dialog = byId("memory");
  const records = el("div", { "aria-busy": "true" }, el("p", { className: "empty" }, "Reading its records …"));
  const acts = el("div", {});
  const close = button({ className: "quiet close", "aria-label": "Close" }, () => dialog.close(), "×");
  const known = place.description !== undefined;
  const heading = el("h2", { id: "memory-name", dir: "auto" }, known ? title(place) : place.name ?? place.node_id);
  fill(dialog, close, heading,
    el("p", { className: "small" }, known ? dot(place) : null, ` ${LEVELS[place.level]}${place.collective ? `, ${place.collective}` : ""} · `,
      el("code", {}, place.node_id)),
    known ? [el("p", { className: "words big", dir: "auto" }, place.description), feelings(place.emotion_vector), terms(place),
      share("energy", place.energy), share("confidence", place.confidence), facts(place), linked(place, stream, choose)] : null,
    el("h3", {}, "Its history"), records, acts);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  try {
    const whose = place.level === "N1" ? { citizen_id: citizen } : { collective: place.collective };
    const history = await whole(historyOf(place.level, place.node_id), "records", whose);
    const latest = history.records.at(-1);
    if (!known) fill(heading, title(latest ?? place));
    fill(records, historyBars(history.records));
    if (latest && !latest.expired_at) fill(acts, changes({ ...latest, collective: place.collective }, title(latest), citizen, changed));
  } catch (error) {
    fill(records, trouble(error));
  }
  records.removeAttribute("aria-busy");
}
