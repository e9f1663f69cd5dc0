/**
 * Change a memory from the page: correct, retract, resolve, revalue, share, or distrust where it comes from. What was
 * done can be taken back at once.
 */

import { button, byId, count, el, fill } from "./element.js";
import { get, post } from "./service.js";
import { trouble } from "./trouble.js";

const at = (place, command) => `/v1/memories/${place.level}/${encodeURIComponent(place.node_id)}/${command}`;
const whose = (place, citizen) => (place.collective ? { citizen_id: citizen, collective: place.collective }
  : place.level === "N1" ? { citizen_id: citizen } : {});

/** Say what was done, with a button that takes it back. */
function offerUndo(words, undo) {
  const bar = byId("done");
  const say = (...content) => fill(bar, ...content, button({ className: "quiet", "aria-label": "Close" }, () => { bar.hidden = true; }, "×"));
  const back = button({ className: "go" }, async () => {
    back.disabled = true;
    await undo().then(() => say(el("span", {}, "Taken back: it is as it was.")), (error) => say(trouble(error)));
  }, "Undo");
  say(el("span", { dir: "auto" }, words), back);
  bar.hidden = false;
}

/** Where a memory can be shared: the levels above its own, and the collectives that the key may read. */
async function placesAbove(place) {
  const { collectives } = place.level === "N1" ? await get("/v1/collectives", { limit: 50 }) : { collectives: [] };
  return [...(place.level === "N1" ? [{ level: "N2" }] : []), ...collectives.map((collective) => ({ level: "N2", collective })), { level: "N3" }];
}

/** What a memory can be distrusted for: its conversation, who said it, its source. */
const origins = ({ episode_id, speaker, source }) => [
  episode_id && ["all of its conversation", { episode_id }], speaker && [`all that ${speaker} said`, { speaker }],
  source && source !== "citizen" && [`all that came from ${source}`, { source }]].filter(Boolean);

/** The ways to change a memory. `changed` is called after a change and after it was taken back. */
export function changes(place, name, citizen, changed) {
  const problem = el("div", { role: "alert" });
  const form = el("div", {});
  /** Do `act` and say `words` of it; `undo` takes back what it answered. */
  const done = async (act, words, undo) => {
    fill(problem);
    try {
      const answer = await act();
      fill(form);
      byId("memory").close();
      offerUndo(`${words} “${name}”.`, async () => {
        await undo(answer);
        changed();
      });
      changed();
    } catch (error) {
      fill(problem, error.status === 403 ? el("p", { className: "trouble" }, "This key may read here and not write. Use another one to change it.") : trouble(error));
    }
  };
  const send = (command, fields, words) => done(() => post(at(place, command), { ...whose(place, citizen), ...fields }), words,
    (receipt) => post(at(place, "undo"), { ...whose(place, citizen), undoes: receipt.command_id }));
  const share = async () => {
    const places = await placesAbove(place).catch((error) => fill(problem, trouble(error)));
    if (!places) return;
    const where = el("select", {}, places.map(({ level, collective }, number) => el("option", { value: number },
      collective ?? (level === "N2" ? "everybody of this service" : "the ecosystem"))));
    ask("Share it with", where, "Share it", () => {
      const goes = places[where.value];
      const sent = { citizen_id: citizen, id: place.node_id, from_level: place.level, ...goes,
        ...(place.collective ? { from_collective: place.collective } : {}) };
      done(() => post("/v1/share", sent), "Shared", (copy) => { // a first copy goes again; a later one says again what it said
        const first = copy.status === "shared";
        return post(at({ ...goes, node_id: copy.id }, first ? "retract" : "undo"), { citizen_id: citizen,
          ...(goes.collective ? { collective: goes.collective } : {}), ...(first ? {} : { undoes: copy.command_id }) });
      });
    });
  };
  const distrust = () => {
    const all = origins(place);
    const what = el("select", {}, all.map(([words], number) => el("option", { value: number }, words)));
    ask("What is not to be believed", what, "See what it is", async () => {
      const asked = { ...whose(place, citizen), level: place.level, ...all[what.value][1] };
      const found = await post("/v1/upkeep/quarantine", { ...asked, dry_run: true }).catch((error) => fill(problem, trouble(error)));
      if (!found) return;
      fill(form, el("p", {}, `${count(found.memories, "memory", "memories")} and ${count(found.links, "link")} would be hidden.`),
        button({ className: "bad" }, () => done(() => post("/v1/upkeep/quarantine", asked), "Hidden with all of its kind:",
          ({ id }) => post(`/v1/upkeep/quarantine/${encodeURIComponent(id)}/release`, { ...whose(place, citizen), level: place.level })), "Hide it all"));
    });
  };
  const ask = (label, field, word, submit) => {
    const go = el("form", { className: "changing" }, el("label", {}, label, field), el("button", { className: "go" }, word));
    go.addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
    });
    fill(form, go);
    field.focus();
  };
  const correct = () => {
    const text = el("textarea", { rows: 4, required: true, maxLength: 20_000, dir: "auto" }, place.description ?? "");
    ask("What is right", text, "Correct it", () => send("correct", { description: text.value }, "Corrected"));
  };
  const revalue = () => {
    const much = el("input", { type: "range", min: 0, max: 1, step: 0.05, value: place.importance ?? 0.5 });
    ask("How much it matters", much, "Revalue it", () => send("correct", { importance: Number(much.value) }, "Revalued"));
  };
  const open = ["in_progress", "blocked"].includes(place.resolution_state);
  return el("section", { className: "changes", "aria-label": "Change it" }, el("div", { className: "line" },
    button({}, correct, "Correct"), button({}, revalue, "Revalue"),
    open ? button({}, () => send("resolve", {}, "Resolved"), "Resolve") : null,
    place.level === "N3" ? null : button({}, share, "Share"),
    origins(place).length ? button({}, distrust, "Distrust") : null,
    button({ className: "bad" }, () => send("retract", {}, "Retracted"), "Retract")), form, problem);
}
