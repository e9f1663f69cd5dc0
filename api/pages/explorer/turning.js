/** A belief that changed, as a card that turns: what was believed, and on its back what is, when, why and who said so. */

import { ago, button, day, el, fill, minute } from "./element.js";
import { feelings } from "./feelings.js";
import { get, historyOf } from "./service.js";

const REASON = { reality_changed: "The world changed", discovered_false: "It had been wrong" };
const WHO = { citizen: "The citizen itself", system: "The service", ingestion: "What was read in", tool: "A tool", inference: "An inference" };

const lasted = (seconds) => (seconds >= 172_800 ? `${Math.round(seconds / 86_400)} days` : seconds >= 7200
  ? `${Math.round(seconds / 3600)} hours` : `${Math.max(1, Math.round(seconds / 60))} minutes`);

/** Who opened the record that says it now: the source, and the speaker and the key if there are any. */
async function whoSaid(moment, citizen) {
  const whose = moment.level === "N1" ? { citizen_id: citizen } : { collective: moment.collective };
  const { records } = await get(historyOf(moment.level, moment.node_id), { ...whose, limit: 500 });
  const record = records.find((each) => each.description === moment.corrected_belief) ?? records.at(-1);
  const source = WHO[record.source] ?? record.source;
  return `${record.speaker ?? record.author ?? source}${record.speaker || record.author ? ` (${source.toLowerCase()})` : ""} said so`
    + `${record.key_id ? `, with key ${record.key_id}` : ""}, ${minute(record.created_at)}`;
}

/** The card of a learning moment. `choose` opens its memory; `open` shows the back at once. */
export function turning(moment, citizen, choose, { open = false } = {}) {
  const said = el("p", { className: "small who-said" });
  const inferred = moment.inferred ? " · inferred from what was told later" : "";
  const turn = (words) => button({ className: "turn", "aria-label": `${words}: ${moment.node_name}` }, () => flip(!card.classList.contains("turned")), words);
  const title = () => button({ className: "link name", dir: "auto" }, () => choose({ level: moment.level, node_id: moment.node_id,
    collective: moment.collective }), moment.node_name);
  const front = el("div", { className: "face-of before" }, el("p", { className: "small" }, el("b", {}, "Believed"),
    ` for ${lasted(moment.held_seconds)}`), title(), el("del", { className: "words", dir: "auto" }, moment.original_belief), turn("Turn the card ↻"));
  const back = el("div", { className: "face-of after" }, el("p", { className: "small" }, el("b", {}, REASON[moment.dissonance_type]),
    ` · ${day(moment.corrected_at)}, ${ago(moment.corrected_at)}${inferred}`), title(),
  el("ins", { className: "words", dir: "auto" }, moment.corrected_belief),
  moment.correction_trigger && !moment.correction_trigger.startsWith("Unknown")
    ? el("p", { className: "small" }, moment.correction_trigger) : null,
  feelings(moment.discovery_emotions), said, turn("Turn back ↺"));
  const card = el("article", { className: "turning" }, el("div", { className: "leaf" }, front, back));
  let asked = false;
  function flip(to) {
    card.classList.toggle("turned", to);
    front.inert = to;
    back.inert = !to;
    if (!to || asked) return;
    asked = true;
    whoSaid(moment, citizen).then((words) => fill(said, words)).catch(() => fill(said, "Who said so cannot be read."));
  }
  flip(open);
  return card;
}
