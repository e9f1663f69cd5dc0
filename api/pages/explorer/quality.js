/** Validation: the grade of a stream's metadata, its findings, and on request those of the whole memory. */

import { byId, el, fill, plain, share } from "./element.js";
import { get, post } from "./service.js";
import { trend } from "./trend.js";
import { trouble } from "./trouble.js";

function graded(report, of) {
  const given = report.graded_memories || report.memories_with_errors || !report.total_memories;
  const [grade, className] = given ? [report.quality_grade, report.quality_grade] : ["none given", "ungraded"];
  const inferred = Object.values(report.inferred_fields).reduce((sum, count) => sum + count, 0);
  return [
    el("p", { className: "grade" }, el("strong", { className }, grade),
      el("span", { className: "small" }, ` metadata of ${report.total_memories} ${of}`)),
    share("completeness", report.average_completeness),
    el("dl", { className: "facts" },
      [["fully valid", report.fully_valid_memories], ["with warnings", report.memories_with_warnings],
        ["with errors", report.memories_with_errors], ["incomplete", report.incomplete_memory_ids.length],
        ["fields inferred", inferred]]
        .map(([name, count]) => [el("dt", {}, name), el("dd", {}, count)])),
  ];
}

function ids(level, report, choose) {
  if (!report.incomplete_memory_ids.length) return null;
  return el("details", {}, el("summary", {}, "Incomplete"), el("ul", { className: "plain" },
    report.incomplete_memory_ids.slice(0, 100).map((id) => {
      const open = el("button", { type: "button", className: "link" }, id);
      open.addEventListener("click", () => choose(id));
      return el("li", {}, open);
    })));
}

function swept(graph) {
  const kinds = Object.entries(graph.findings_by_kind);
  return el("section", {}, el("h3", {}, `${graph.level}: `,
    kinds.length ? kinds.map(([kind, count]) => `${count} ${plain(kind)}`).join(", ") : "nothing found"),
  el("ul", { className: "findings" }, graph.findings.map((finding) => el("li", { className: finding.severity },
    el("b", {}, `${finding.severity}: ${plain(finding.kind)}`), ` ${finding.message} `, el("code", {}, finding.id)))));
}

function lastRun(answer) {
  const [run] = answer.runs;
  if (!run) return el("p", { className: "small" }, "Upkeep has not worked here yet.");
  return el("p", { className: "small" },
    `Upkeep: ${plain(run.job)} ${run.status} ${run.begun_at.slice(0, 16).replace("T", " ")}, `,
    `${run.seen} seen, ${run.changed} changed, ${run.refused} refused`);
}

async function showRun(place, citizen) {
  try {
    fill(place, lastRun(await get("/v1/upkeep/runs", { citizen_id: citizen, limit: 1 })));
  } catch (error) {
    fill(place, trouble(error));
  }
}

async function showTrend(place, citizen) {
  try {
    fill(place, trend(await get("/v1/upkeep/quality", { citizen_id: citizen })));
  } catch (error) {
    fill(place, trouble(error));
  }
}

/** Show the report of a stream; `choose` is called with the id of an incomplete memory. */
export function showQuality(stream, citizen, choose) {
  const place = el("div", { role: "status" });
  const series = el("div", { id: "trend" });
  const upkeep = el("div", { id: "upkeep" });
  const check = el("button", { type: "button" }, "Check the whole memory");
  check.addEventListener("click", async () => {
    check.disabled = true;
    fill(place, el("p", { className: "empty" }, "Going over it page by page …"));
    try {
      const answer = await post("/v1/upkeep/sweep", { citizen_id: citizen, findings_per_kind: 20 });
      fill(place, answer.reports.map(swept));
      await showTrend(series, citizen);
    } catch (error) {
      fill(place, trouble(error));
    }
    check.disabled = false;
  });
  fill(byId("quality"), graded(stream.metadata_validation, "memories in this answer"),
    ids("N1", stream.metadata_validation, choose),
    el("h2", {}, "The whole memory"),
    el("p", { className: "small" }, "A sweep reads and lists what is doubtful. It changes no memory."), series, upkeep, check, place);
  showTrend(series, citizen);
  showRun(upkeep, citizen);
}
