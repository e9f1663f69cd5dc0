/** The identity and the state of a citizen. */

import { el, plain, share } from "./element.js";
import { feelings } from "./feelings.js";
import { get, ofCitizen } from "./service.js";

function card(entity, most, choose) {
  const open = el("button", { type: "button", className: "link" }, entity.name);
  open.addEventListener("click", () => choose({ level: "N1", node_id: entity.node_id }));
  const felt = Object.entries(entity.emotions).slice(0, 6);
  return el("li", { className: "card" },
    el("p", {}, open, el("span", { className: "small" }, ` ${plain(entity.node_type)}`)),
    el("div", { className: "share" }, el("span", {}, "in memories"),
      el("meter", { min: 0, max: most, value: entity.appearances, "aria-label": "memories that point to it" }),
      el("span", { className: "figure" }, entity.appearances)),
    felt.length ? el("ul", { className: "chips", "aria-label": "Felt in how many of them" },
      felt.map(([name, count]) => el("li", {}, name, el("small", {}, ` ${count}×`)))) : null,
    entity.rules.length ? el("details", {}, el("summary", {}, `Rules attached (${entity.rules.length})`),
      el("ul", {}, entity.rules.map(({ rule }) => el("li", {}, rule)))) : null);
}

/** The state and the identity at the moment of the sliders; `choose` opens a memory. */
export async function identity(citizen, moment, choose) {
  const who = await get(ofCitizen(citizen, "identity"), moment);
  const state = who.state;
  const drives = Object.entries(state.drives ?? {});
  return [
    el("div", { className: "card" }, el("h2", {}, "State"), share("energy", state.energy),
      feelings(state.emotion_vector), state.goal ? el("p", { className: "small" }, `Goal: ${plain(state.goal)}`) : null,
      drives.map(([name, drive]) => share(name, drive.satisfaction))),
    el("h2", {}, "Most connected"),
    who.entities.length
      ? el("ol", { className: "plain" }, who.entities.map((entity) => card(entity, who.entities[0].appearances, choose)))
      : el("p", { className: "empty" }, who.notes.join(" ") || "Nothing was lived yet."),
  ];
}
