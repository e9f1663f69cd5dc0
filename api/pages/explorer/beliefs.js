/** Beliefs that changed: before, after, the reason and the feelings. */

import { el, feelings, minute } from "./element.js";
import { ofCitizen, whole } from "./service.js";

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

/** The changed beliefs of a citizen, latest first; `choose` opens a memory. */
export async function beliefs(citizen, choose) {
  const learned = await whole(ofCitizen(citizen, "dissonances"), "dissonances");
  if (!learned.dissonances.length) return [el("p", { className: "empty" }, `${citizen} has changed no belief yet.`)];
  const counts = new Map();
  for (const { correction_pattern_id: pattern } of learned.dissonances) {
    if (pattern) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  const recurring = [...counts].filter(([, count]) => count > 1);
  return [
    recurring.length ? el("p", { className: "small" }, "Corrected more than once by the same: ",
      recurring.map(([pattern, count]) => `${pattern} (${count})`).join(", ")) : null,
    el("ol", { className: "plain" }, learned.dissonances.toReversed().map((moment) => changed(moment, choose))),
  ];
}
