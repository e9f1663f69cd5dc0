/** The page: it sends the questions, and passes each part of the answer to the panel that shows it. */

import * as address from "./address.js";
import { beliefs } from "./beliefs.js";
import { citizens, mark } from "./citizens.js";
import { ago, byId, count, day, el, fill } from "./element.js";
import { showTimings, watch } from "./engine.js";
import * as graph from "./graph.js";
import { identity } from "./identity.js";
import { keys } from "./keys.js";
import * as lately from "./lately.js";
import { openMemory } from "./memory.js";
import { showPaths } from "./paths.js";
import { showQuality } from "./quality.js";
import { replay } from "./replay.js";
import { chooseRooms, request, thenRequest } from "./request.js";
import * as river from "./river.js";
import { get, ofCitizen, post } from "./service.js";
import { start } from "./start.js";
import { unfold } from "./stream.js";
import { tabs } from "./tabs.js";
import { theme } from "./theme.js";
import { showTiers, verdict } from "./tiers.js";
import { times } from "./times.js";
import { trouble } from "./trouble.js";

const page = { citizen: "", stream: null, way: "", drawn: "", asked: 0, shown: "tiers", fresh: new Set(), life: null, leave: () => {} };

/** The memory with this level and id in the stream, else only its level and id. */
function findMemory(place) {
  const all = Object.values(page.stream?.memories ?? {});
  return all.find((node) => node.node_id === place.node_id && (!place.level || node.level === place.level)) ?? { level: "N1", ...place };
}

function choose(place) {
  const memory = findMemory(place);
  if (page.stream) graph.show(memory.level, memory.node_id);
  openMemory(memory, { citizen: page.citizen, stream: page.stream, choose, changed: again });
}

/** Loaders of the tabs that are read only when they are opened, once for each answer. */
const LATER = {
  beliefs: () => beliefs(page.citizen, choose),
  identity: () => identity(page.citizen, clock.fields(), choose),
};

async function shown(id) {
  page.shown = id;
  if (!(id in LATER) || page.fresh.has(id) || !page.stream) return;
  page.fresh.add(id);
  const place = byId(id);
  const asked = page.asked;
  fill(place, el("p", { className: "empty" }, "Reading …"));
  const content = await LATER[id]().catch((error) => {
    page.fresh.delete(id);
    return trouble(error);
  });
  if (asked === page.asked) fill(place, content);
}

function summary(stream) {
  const active = Object.values(stream.activation_tiers).reduce((sum, nodes) => sum + nodes.length, 0);
  const { edge_count: links, path_count: paths } = stream.traversal_graph;
  const sure = stream.answer_confidence;
  const { valid, known } = clock.moments();
  const then = [valid && `as it was on ${day(valid)}`, known && `as known on ${day(known)}`].filter(Boolean).join(", ");
  return [
    el("span", {}, `${active} of ${stream.consciousness_summary.total_results} memories active · ${count(links, "link")} · ${count(paths, "path")} of thought`,
      typeof sure === "number" ? ` · ${Math.round(100 * sure)} % sure` : "", then && ` · ${then}`, ` · ${Math.round(stream.retrieval_latency_ms)} ms`),
    stream.degraded.length ? el("span", { className: "note" }, `Incomplete: ${stream.degraded.length} of its queries failed`) : null,
  ];
}

async function show(stream, same) {
  const before = same && page.stream ? new Map(Object.values(page.stream.memories).map((node) => [`${node.level} ${node.node_id}`, node.description])) : new Map();
  page.stream = stream;
  page.fresh.clear();
  byId("answer").hidden = false;
  byId("start").hidden = true;
  document.body.classList.add("answered");
  const [kind, words] = verdict(stream);
  byId("answer").dataset.verdict = kind;
  byId("verdict").hidden = !words;
  fill(byId("verdict"), words);
  fill(byId("said"), summary(stream));
  showTiers(stream, choose, (node) => graph.show(node.level, node.node_id), before);
  showPaths(stream, (path, steps) => (path ? graph.trace(path, steps) : graph.calm()));
  showQuality(stream, page.citizen, (id) => choose({ node_id: id }));
  showTimings(stream);
  shown(page.shown);
  await graph.draw(stream, { same, kind });
}

/** What is asked: a question, a waking, or what the citizen thought at the moment of the sliders. */
function wanted(way, moment) {
  return way === "then" ? thenRequest(page.citizen, moment) : request(way, page.citizen, moment);
}

async function ask(way, { step = true } = {}) {
  const citizen = byId("citizen").value.trim();
  if (citizen !== page.citizen) live(citizen, { stay: true });
  page.way = way;
  const question = byId("question").value.trim();
  address.write({ citizen, way, question, mode: byId("mode").value, ...clock.moments() }, { step });
  const asked = ++page.asked;
  document.body.setAttribute("aria-busy", "true");
  byId("trouble").replaceChildren();
  try {
    const { path, body } = await wanted(way, clock.fields());
    const stream = unfold(await post(path, body));
    if (asked !== page.asked) return;
    const key = JSON.stringify([citizen, way, way === "ask" ? question : body.query_mode]);
    const same = page.drawn === key;
    page.drawn = key;
    await show(stream, same);
  } catch (error) {
    if (asked === page.asked) fill(byId("trouble"), trouble(error));
  }
  if (asked === page.asked) document.body.removeAttribute("aria-busy");
}

/** Ask the last question again: at another moment, with another key, or after a change. */
async function again() {
  if (page.way) await ask(page.way, { step: false });
}

const act = {
  ask(question) {
    byId("question").value = question;
    byId("tab-ask").click();
    ask("ask");
  },
  wake() {
    byId("tab-wake").click();
    ask("wake");
  },
  choose,
  tie: (changes) => river.tie(changes),
};

const NEWS_MS = 3000;

/** The citizen heard something, or somebody asked it: the river grows, and what is drawn of it lights up. */
const news = {
  choose,
  async heard(changes) {
    graph.flash(changes);
    const { citizen } = page;
    clearTimeout(page.growing);
    page.growing = setTimeout(async () => {
      const life = await get(ofCitizen(citizen, "life")).catch(() => null);
      if (!life || page.citizen !== citizen) return;
      page.life = life;
      river.grow(life);
      fill(byId("life-said"), describe(life));
    }, NEWS_MS);
  },
  thought(stream) {
    if (stream.stream_id !== page.stream?.stream_id) post(`/v1/streams/${encodeURIComponent(stream.stream_id)}/replay`)
      .then((replay) => graph.flash(replay.memories.filter((memory) => memory.place_then)), () => {});
  },
};

function describe(life) {
  const changes = [count(life.memories, "memory", "memories"), `in ${count(life.weeks.length, "week")}`].join(" ");
  return life.weeks.length ? `${changes}, since ${day(life.weeks[0].start)}. Choose a time to see what it thought then.`
    : "Nothing is remembered of it yet.";
}

/** Show the life of a citizen; with `stay` what is asked stays, else the first screen comes. */
async function live(citizen, { stay = false, valid = null, known = null } = {}) {
  page.citizen = citizen;
  page.life = null;
  byId("citizen").value = citizen;
  mark(citizen);
  page.leave();
  fill(byId("whose"), citizen);
  const current = () => page.citizen === citizen;
  if (!stay) {
    Object.assign(page, { stream: null, way: "", drawn: "", asked: page.asked + 1 });
    byId("answer").hidden = true;
    byId("start").hidden = false;
    document.body.classList.remove("answered");
    fill(byId("said"));
    fill(byId("trouble"));
    byId("question").value = "";
    address.write({ citizen, way: "" }, { step: true });
  }
  const life = await get(ofCitizen(citizen, "life")).catch((error) => {
    if (current()) fill(byId("life-said"), error.message);
    return null;
  });
  if (!current() || !life) return;
  page.life = life;
  if (life.weeks.length) {
    page.leave();
    page.leave = lately.follow(citizen, news);
  }
  river.show(life);
  byId("life").classList.toggle("lived", life.weeks.length > 0);
  fill(byId("life-said"), describe(life));
  clock.reach(river.span(), life.known_from ? Date.parse(life.known_from) : null);
  clock.set(valid, known);
  if (life.weeks.length) start(citizen, act, current);
  else byId("start").replaceChildren();
}

/** A moment was chosen: the question is asked there, and without one what the citizen thought then. */
function moved(which) {
  const { valid } = clock.moments();
  if (!page.way && which === "true" && valid && page.life?.known_from && Date.parse(page.life.known_from) < valid) clock.set(valid, valid);
  if (page.way) again();
  else if (page.citizen) ask(byId("question").value.trim() ? "ask" : "then");
}

/** Begin, or begin again with another key: who lives here, and what the address asks. */
async function enter() {
  try {
    const asked = address.read();
    const named = asked.citizen || page.citizen;
    const everybody = citizens((name) => live(name));
    everybody.then(() => mark(page.citizen), () => {});
    const [citizen] = named ? [named] : await everybody;
    await chooseRooms(); // a question goes to the collectives that are ticked
    if (citizen) await Promise.all([everybody, follow({ ...asked, citizen })]);
    else fill(byId("life-said"), "Nobody lives here yet. Remember something, and this page shows it.");
  } catch (error) {
    if (error.status !== 401) fill(byId("trouble"), trouble(error));
  }
}

/** Show what an address asks for. The question waits for the life only where a moment of it is asked for. */
async function follow(asked) {
  const way = asked.question ? "ask" : asked.mode ? "wake" : asked.then ? "then" : "";
  const lived = live(asked.citizen, { stay: way !== "", valid: asked.valid, known: asked.known });
  byId("question").value = asked.question; // before anything is waited for: somebody may be typing by then
  if (asked.valid || asked.known || !way) await lived;
  if (asked.mode) byId("mode").value = asked.mode;
  if (way === "wake") byId("tab-wake").click();
  if (way) await Promise.all([lived, ask(way, { step: false })]);
}

const clock = times(moved);
for (const way of ["ask", "wake"]) {
  byId(way).addEventListener("submit", (event) => {
    event.preventDefault();
    ask(way);
  });
}
byId("citizen").addEventListener("change", () => {
  const name = byId("citizen").value.trim();
  if (name && byId("citizen").checkValidity() && name !== page.citizen) live(name);
});
byId("home").addEventListener("click", (event) => {
  event.preventDefault();
  if (page.citizen) live(page.citizen);
});
addEventListener("popstate", () => follow({ ...address.read(), citizen: address.read().citizen || page.citizen }));
tabs(document.querySelector(".ways"), (way) => byId("citizen").setAttribute("form", `${way}-form`));
tabs(document.querySelector(".side .tabs"), shown);
theme(() => {
  graph.recolour();
  river.redraw();
});
replay(() => [river.span()[0], Date.parse(page.life?.known_from ?? Date.now())], (valid, known) => {
  clock.set(valid, known);
  return again();
});
river.wire();
river.whenKnot((changes) => choose({ level: changes[0].level, node_id: changes[0].node_id, collective: changes[0].collective }));
graph.whenChosen((key) => choose({ level: key.slice(0, 2), node_id: key.slice(3) }));
graph.tools();
watch();
keys(enter);
requestIdleCallback(() => graph.load());
