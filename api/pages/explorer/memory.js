/** One memory: its text, feelings, score terms, and its records as bars on both time axes. */

import { byId, el, feelings, fill, minute, plain, share } from "./element.js";
import { historyOf, whole } from "./service.js";
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

function why(record) {
  const reasons = { reality_changed: "the world changed", discovered_false: "found to be wrong" };
  const reason = reasons[record.closed_reason ?? record.invalidation_reason];
  return reason ? ` · ${reason}` : "";
}

function historyBars(records) {
  const spans = AXES.map(([, from, until]) => span(records, from, until));
  return el("ol", { className: "records" }, records.map((record) => el("li", { className: record.expired_at ? "past" : "" },
    el("p", { className: "small" }, el("b", {}, `Record ${record.version}`), why(record),
      record.source === "citizen" ? "" : ` · from ${record.source}`),
    AXES.map((axis, at) => bar(record, axis, spans[at])),
    el("p", { className: "words" }, record.description))));
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

function terms(node) {
  const entries = Object.entries(node.score_terms ?? {}).filter(([, value]) => value !== 0);
  if (!entries.length) return null;
  return el("details", {}, el("summary", {}, "Why it came to mind"), el("table", {},
    el("tbody", {}, entries.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, plain(name)),
      el("td", { className: "figure" }, value.toFixed(3)))))));
}

/** Open a memory. `place` has `level` and `node_id`, and all other fields if the stream has the memory. */
export async function openMemory(place, citizen) {
  const dialog = byId("memory");
  const records = el("div", { "aria-busy": "true" }, el("p", { className: "empty" }, "Reading its records …"));
  const close = el("button", { type: "button", className: "quiet close", "aria-label": "Close" }, "×");
  close.addEventListener("click", () => dialog.close());
  const known = place.description !== undefined;
  const title = el("h2", { id: "memory-name" }, place.name ?? place.node_id);
  fill(dialog, close, title,
    el("p", { className: "small" }, el("i", { className: "swatch round", style: `background:var(--${place.level})` }),
      `${place.level} · `, el("code", {}, place.node_id)),
    known ? [el("p", { className: "words big" }, place.description), feelings(place.emotion_vector),
      share("energy", place.energy), share("confidence", place.confidence), facts(place), terms(place)] : null,
    el("h3", {}, "Its history"), records);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  try {
    const whose = place.level === "N1" ? { citizen_id: citizen } : {};
    const history = await whole(historyOf(place.level, place.node_id), "records", whose);
    if (!known) title.textContent = history.records.at(-1)?.name ?? place.node_id;
    fill(records, historyBars(history.records));
  } catch (error) {
    fill(records, trouble(error));
  }
  records.removeAttribute("aria-busy");
}
