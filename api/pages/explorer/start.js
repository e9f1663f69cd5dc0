/** Before any question: three questions made from the memory itself, its last waking, its last lesson, its people. */

import { learned, lastStreams } from "./beliefs.js";
import { face } from "./citizens.js";
import { ago, button, byId, count, el, fill, plain } from "./element.js";
import { get, ofCitizen, post } from "./service.js";
import { turning } from "./turning.js";

const QUESTIONS = 3;
/** Among so many of the last streams the last waking is sought: whoever looks at a mind asks much. */
const LOOKED_AT = 100;
const AGAIN_MS = 1500;
const pause = (time) => new Promise((rest) => { setTimeout(rest, time); });

/** Questions that this memory can answer: of its open work, of a belief that changed, of somebody it knows. */
function questions({ appetite, changes, identity }) {
  const open = appetite?.readings.find((reading) => reading.name === "unresolved_tension")?.sources[0];
  const changed = changes?.at(-1);
  const people = identity?.people ?? [];
  const [rule] = identity?.values ?? [];
  const things = (identity?.entities ?? []).filter((entity) => !people.some((person) => person.node_id === entity.node_id));
  const short = (name) => name.length <= 70;
  return [
    open && short(open.name) && `What is still open about “${open.name}”?`,
    changed && short(changed.node_name) && `Why did I change my mind about “${changed.node_name}”?`,
    people[0] && short(people[0].name) && `What has happened between ${people[0].name} and me?`,
    things[0] && short(things[0].name) && `What do I know of ${things[0].name}?`,
    rule && short(rule.rule) && `Where did I learn “${rule.rule}”?`,
    people[1] && short(people[1].name) && `What has happened between ${people[1].name} and me?`,
  ].filter(Boolean).slice(0, QUESTIONS);
}

const part = (title, ...content) => el("section", { className: "part" }, el("h2", {}, title), ...content);
const MODES = { find_related_unresolved: "what was still open", find_what_i_was_doing: "what it had been doing",
  find_similar_state: "when it had felt like this", find_resolution_patterns: "ways out of a blockage" };

/** The last waking, else the last question: what it was after, and what came to mind. */
async function waking(citizen, streams, act) {
  const last = streams.find((stream) => stream.way === "wake") ?? streams[0];
  if (!last) {
    return part("It was never woken", el("p", {}, "Waking starts from how it feels now, without a question."),
      button({ className: "go" }, act.wake, "Wake it now"));
  }
  const woken = last.way === "wake";
  const replay = await post(`/v1/streams/${encodeURIComponent(last.stream_id)}/replay`);
  const shown = replay.memories.filter((memory) => memory.place_then && memory.place_then <= 5);
  return part(woken ? "Last waking" : "Last question", el("p", { className: "lead", dir: "auto" },
    woken ? `${citizen} looked for ${MODES[last.asked] ?? plain(last.asked)}` : last.asked, el("small", {}, ` ${ago(last.asked_at)}`)),
  el("ol", { className: "plain came" }, shown.map((memory) => el("li", { className: memory.fate }, button({ className: "memory" },
    () => act.choose({ level: memory.level, node_id: memory.id, collective: memory.collective }),
    el("span", { className: "name", dir: "auto" }, memory.name ?? memory.id),
    memory.fate === "closed" ? el("small", {}, "changed since") : null)))),
  button({ className: "quiet" }, woken ? act.wake : () => act.ask(last.asked), woken ? "Wake it again" : "Ask it again"));
}

function people(identity, act) {
  const known = identity.people.slice(0, 8);
  if (!known.length) return null;
  const most = known[0].appearances;
  return part("Its people", el("ul", { className: "people" }, known.map((person) => {
    const thread = el("span", { className: "thread", "aria-hidden": "true" });
    thread.style.setProperty("--part", Math.sqrt(person.appearances / most));
    const open = button({ className: "person" }, () => act.ask(`What has happened between ${person.name} and me?`),
      face(person.name), el("span", { className: "name", dir: "auto" }, person.name, person.relation ? el("small", {}, ` ${person.relation}`) : null),
      thread, el("small", { className: "figure" }, count(person.appearances, "memory", "memories")));
    return el("li", {}, open);
  })));
}

/**
 * Fill the first screen. Each part comes when it is read, and one that cannot be read is left out. `act` has
 * `ask(question)`, `wake()`, `choose(place)` and `tie(changes)`; `current()` says whether the citizen is still shown.
 */
export async function start(citizen, act, current) {
  const place = byId("start");
  const [woke, lesson, others] = ["woke", "lesson", "others"].map((id) => el("div", { className: `slot ${id}` }));
  fill(place, woke, lesson, others);
  fill(byId("suggested"));
  const read = {};
  const offer = () => current() && fill(byId("suggested"), questions(read).map((words) => el("li", {},
    button({ className: "chip", dir: "auto" }, () => act.ask(words), words))));
  const into = async (slot, content) => {
    const filled = await content.catch(() => null);
    if (current()) fill(slot, filled);
  };
  const keep = async (name, reading) => {
    read[name] = await reading().catch(() => pause(AGAIN_MS).then(reading)).catch(() => null); // a busy engine may be late once
    offer();
    return read[name];
  };
  await Promise.all([
    into(woke, lastStreams(citizen, LOOKED_AT).then((streams) => waking(citizen, streams, act))),
    into(lesson, keep("changes", () => learned(citizen)).then((changes) => {
      if (!current()) return null;
      act.tie(changes ?? []);
      const latest = changes?.filter((change) => !change.inferred).at(-1) ?? changes?.at(-1);
      return latest ? part("The last thing it unlearned", turning(latest, citizen, act.choose)) : null;
    })),
    into(others, keep("identity", () => get(ofCitizen(citizen, "identity"), { limit: 8 })).then((identity) => identity && people(identity, act))),
    keep("appetite", () => get(ofCitizen(citizen, "appetite"))),
  ]);
}
