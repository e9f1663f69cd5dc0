/** Change a memory from the page: correct, retract, resolve, revalue. What was done can be taken back at once. */

import { button, byId, el, fill } from "./element.js";
import { post } from "./service.js";
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

/** The ways to change a memory. `changed` is called after a change and after it was taken back. */
export function changes(place, name, citizen, changed) {
  const problem = el("div", { role: "alert" });
  const form = el("div", {});
  const send = async (command, fields, words) => {
    fill(problem);
    try {
      const receipt = await post(at(place, command), { ...whose(place, citizen), ...fields });
      fill(form);
      byId("memory").close();
      offerUndo(`${words} “${name}”.`, async () => {
        await post(at(place, "undo"), { ...whose(place, citizen), undoes: receipt.command_id });
        changed();
      });
      changed();
    } catch (error) {
      fill(problem, error.status === 403 ? el("p", { className: "trouble" }, "This key may read here and not write. Use another one to change it.") : trouble(error));
    }
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
    button({ className: "bad" }, () => send("retract", {}, "Retracted"), "Retract")), form, problem);
}
