/** Who lives here: each citizen with when it last thought, the one who thought last first. */

import { ago, button, byId, el, fill } from "./element.js";
import { tint } from "./feelings.js";
import { get, ofCitizen } from "./service.js";
import { initials } from "./titles.js";

/** So many are shown with their last thought; all others are suggested where a name is typed. */
const SHOWN = 6;

/** When a citizen was last asked or woken; null for never. */
async function lastThought(citizen) {
  const { streams } = await get(ofCitizen(citizen, "streams"), { limit: 1 }).catch(() => ({ streams: [] }));
  return streams[0]?.asked_at ?? null;
}

export const face = (name) => el("i", { className: "face", "aria-hidden": "true", style: `--tint:${tint(name)}` }, initials(name));

/** Mark the chosen one. */
export function mark(citizen) {
  for (const each of byId("citizens").querySelectorAll("button")) {
    each.setAttribute("aria-pressed", String(each.dataset.citizen === citizen));
  }
}

/** Show the citizens; `choose` is called with one. Returns their names, the one who thought last first. */
export async function citizens(choose) {
  const { citizens: names } = await get("/v1/citizens", { limit: 200 });
  fill(byId("everybody"), names.map((name) => el("option", { value: name })));
  const thought = await Promise.all(names.slice(0, SHOWN).map(async (name) => [name, await lastThought(name)]));
  thought.sort((a, b) => (b[1] ?? "").localeCompare(a[1] ?? ""));
  fill(byId("citizens"), thought.map(([name, at]) => el("li", {}, button({ className: "citizen", "data-citizen": name,
    "aria-pressed": "false" }, () => choose(name),
  face(name), el("span", { className: "name" }, name), el("small", {}, at ? `thought ${ago(at)}` : "has not been asked yet")))));
  document.body.classList.toggle("crowd", names.length > SHOWN || !names.length);
  return [...thought.map(([name]) => name), ...names.slice(SHOWN)];
}
