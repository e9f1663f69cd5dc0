/**
 * What a citizen hears while the page is open, and what it is asked: from the feed of its changes. The page asks with a
 * long wait, because a browser can send no key with server-sent events.
 */

import { ago, button, byId, count, el, fill } from "./element.js";
import { get, ofCitizen } from "./service.js";

const [WAIT_S, AGAIN_MS, SHOWN] = [10, 10_000, 3];
/** Refusals after which asking again is no use: this key may not read the citizen, or nobody has this name. */
const FINAL = [401, 403, 404];
const [BUSY, REFUSED, FAULT] = [429, 400, 500];

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

const DONE = { remember: "Heard", correct: "Corrected", retract: "Retracted", relate: "Linked", ingest: "Heard a conversation" };

/** A change in words; several of one conversation are one line. */
function line(changes, choose) {
  const memories = changes.filter((change) => change.subject === "memory");
  const last = memories.at(-1);
  const more = memories.length > 1 ? ` and ${count(memories.length - 1, "more memory", "more memories")}` : "";
  const words = `${DONE[(last ?? changes.at(-1)).command] ?? "Changed"}${last ? `: ${last.name ?? last.id}${more}` : ""}`;
  const open = () => choose({ level: last.level, node_id: last.id, collective: last.collective });
  return el("li", {}, last ? button({ className: "link", dir: "auto" }, open, words) : el("span", {}, words),
    el("small", {}, ` ${ago(changes.at(-1).known_at)}`));
}

/** The last question or waking of the citizen. */
const lastStream = async (citizen, signal) => (await get(ofCitizen(citizen, "streams"), { limit: 1 }, { signal })).streams[0];

/**
 * Follow a citizen until `leave` of the answer is called. `act` has `choose(place)`; `heard(changes)` is called with
 * changes that came, and `thought(stream)` when it was asked or woken by somebody.
 */
export function follow(citizen, act) {
  const control = new AbortController();
  const { signal } = control;
  const lines = [];
  const say = (one) => {
    lines.unshift(one);
    fill(byId("lately"), lines.slice(0, SHOWN));
    byId("lately").hidden = false;
  };
  byId("lately").hidden = true;
  const watch = async () => {
    let after = "now";
    let stream = (await lastStream(citizen, signal).catch(() => null))?.stream_id;
    while (!signal.aborted) {
      if (document.hidden) {
        await new Promise((resolve) => { document.addEventListener("visibilitychange", resolve, { once: true }); });
        continue;
      }
      try {
        const asked = { citizen_id: citizen, after, limit: 500, ...(after === "now" ? {} : { wait: WAIT_S }) };
        const page = await get("/v1/changes", asked, { signal });
        if (signal.aborted) return;
        after = page.next;
        if (page.changes.length) {
          say(line(page.changes, act.choose));
          act.heard(page.changes);
        }
        const last = await lastStream(citizen, signal);
        if (last && last.stream_id !== stream && !signal.aborted) {
          stream = last.stream_id;
          act.thought(last);
        }
      } catch (error) {
        if (signal.aborted || FINAL.includes(error.status)) return;
        // A cursor of another past is refused: go on from here. Else nothing that happened meanwhile is missed.
        if (error.status >= REFUSED && error.status < FAULT && error.status !== BUSY) after = "now";
        await pause(AGAIN_MS);
      }
    }
  };
  watch();
  return () => control.abort();
}
