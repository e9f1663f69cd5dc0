/** Turn the forms into a request. */

import { byId, el } from "./element.js";
import { get, ofCitizen, Problem } from "./service.js";

/** Of so many collectives each can be chosen; where there are few, all are asked unless one is left out. */
const [ROOMS, FEW] = [8, 4];

/** Offer the collectives that the key may read beside the levels. */
export async function chooseRooms() {
  const { collectives } = await get("/v1/collectives", { limit: ROOMS }).catch(() => ({ collectives: [] }));
  for (const old of byId("levels").querySelectorAll(".room")) old.remove();
  byId("levels").append(...collectives.map((name) => el("label", { className: "room" },
    el("input", { type: "checkbox", name: "room", value: name, checked: collectives.length <= FEW }), ` ${name}`)));
}

const rooms = () => {
  const chosen = [...document.querySelectorAll('input[name="room"]:checked')].map((box) => box.value);
  return chosen.length ? { collectives: chosen } : {};
};

const FEELING = /^\s*([^\s\d,][^\d,]*?)\s*[: ]?\s*([01]?(?:\.\d+)?)?\s*$/;

/** `drive 0.8, uncertainty 0.3` as feelings; a name without a number counts as 1. Throws Problem for other texts. */
export function felt(text) {
  const parts = text.split(",").filter((part) => part.trim());
  return Object.fromEntries(parts.map((part) => {
    const [, name, strength] = FEELING.exec(part) ?? [];
    if (!name) throw new Problem(0, { title: "Feelings cannot be read", detail: `“${part.trim()}” is no feeling.`,
      remedy: "Write a name and a number from 0 to 1, as in: drive 0.8, uncertainty 0.3" });
    return [name, strength ? Number(strength) : 1];
  }));
}

function asking(citizen, moment) {
  const levels = [...document.querySelectorAll('input[name="level"]:checked')].map((box) => box.value);
  return {
    citizen_id: citizen, ...rooms(), query_text: byId("question").value, explain: true, form: "references", generated_by: "explorer",
    max_results_per_level: Number(byId("limit").value),
    ...(levels.length < 3 ? { query_levels: levels } : {}),
    ...(moment.as_of_time || moment.known_at ? { temporal_mode: "point_in_time", ...moment } : {}),
  };
}

function waking(citizen, moment) {
  return {
    citizen_id: citizen, ...rooms(), form: "references", query_mode: byId("mode").value, current_energy: Number(byId("energy").value), explain: true,
    current_emotions: felt(byId("feelings").value), current_goal: byId("goal").value.trim() || null,
    temporal_scope: byId("scope").value, include_only_unresolved: byId("unresolved").checked, ...moment,
  };
}

/** The path and body of a question or a waking at this moment. */
export const request = (way, citizen, moment) => (way === "wake"
  ? { path: "/v1/wake", body: waking(citizen, moment) }
  : { path: "/v1/retrieve", body: asking(citizen, moment) });

/** What the citizen thought at a moment: it wakes then, feeling as it felt then. */
export async function thenRequest(citizen, moment) {
  const state = await get(ofCitizen(citizen, "state"), moment);
  return { path: "/v1/wake", body: { citizen_id: citizen, ...rooms(), form: "references", query_mode: "find_what_i_was_doing",
    current_energy: state.energy, current_emotions: state.emotion_vector, current_goal: state.goal, explain: true,
    temporal_scope: "all_time", include_only_unresolved: false, ...moment } };
}
