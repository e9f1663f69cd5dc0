/** The page: it sends the questions, and passes each part of the answer to the panel that shows it. */

import { beliefs } from "./beliefs.js";
import { byId, el, fill } from "./element.js";
import { showTimings, watch } from "./engine.js";
import * as graph from "./graph.js";
import { identity } from "./identity.js";
import { keys } from "./keys.js";
import { openMemory } from "./memory.js";
import { showPaths } from "./paths.js";
import { showQuality } from "./quality.js";
import { request } from "./request.js";
import { post } from "./service.js";
import { unfold } from "./stream.js";
import { tabs } from "./tabs.js";
import { theme } from "./theme.js";
import { showTiers } from "./tiers.js";
import { times } from "./times.js";
import { trouble } from "./trouble.js";

const page = { citizen: "", stream: null, way: "ask", asked: 0, shown: "tiers", fresh: new Set() };

const choose = (place) => {
  graph.show(place.level, place.node_id);
  openMemory(place, page.citizen);
};

/** The memory with this level and id in the stream, else only its level and id. */
function findMemory(level, id) {
  const all = Object.values(page.stream?.activation_tiers ?? {}).flat();
  return all.find((node) => node.node_id === id && (!level || node.level === level)) ?? { level: level ?? "N1", node_id: id };
}

/** Loaders of the tabs that are read only when they are opened, once for each answer. */
const LATER = {
  beliefs: () => beliefs(page.citizen, (place) => choose(findMemory(place.level, place.node_id))),
  identity: () => identity(page.citizen, clock.fields(), (place) => choose(findMemory(place.level, place.node_id))),
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

const count = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;

function summary(stream) {
  const { total_results: total, n1_result_count: own } = stream.consciousness_summary;
  const active = Object.values(stream.activation_tiers).reduce((sum, nodes) => sum + nodes.length, 0);
  const { edge_count: links, path_count: paths } = stream.traversal_graph;
  return [
    el("span", {}, `${active} of ${total} memories active (${own} personal) · ${count(links, "link")} · ${count(paths, "path")} of thought`
      + ` · ${Math.round(stream.retrieval_latency_ms)} ms`),
    stream.degraded.length ? el("span", { className: "note" }, `Incomplete: ${stream.degraded.length} of its queries failed`) : null,
    stream.notes.map((note) => el("span", { className: "note" }, note)),
  ];
}

async function show(stream) {
  page.stream = stream;
  page.fresh.clear();
  clock.reach(Object.values(stream.levels).flatMap((level) => [...level.vector_results, ...level.graph_results]));
  fill(byId("said"), summary(stream));
  showTiers(stream, choose, (node) => graph.show(node.level, node.node_id));
  showPaths(stream, (path) => (path ? graph.trace(path) : graph.calm()));
  showQuality(stream, page.citizen, (id) => choose(findMemory(null, id)));
  showTimings(stream);
  shown(page.shown);
  await graph.draw(stream);
}

async function ask(way) {
  const citizen = byId("citizen").value.trim();
  if (citizen !== page.citizen) clock.renew();
  Object.assign(page, { citizen, way });
  history.replaceState(null, "", `?citizen=${encodeURIComponent(citizen)}`);
  const asked = ++page.asked;
  document.body.setAttribute("aria-busy", "true");
  byId("trouble").replaceChildren();
  try {
    const { path, body } = request(way, citizen, clock.fields());
    const stream = unfold(await post(path, body));
    if (asked === page.asked) await show(stream);
  } catch (error) {
    if (asked === page.asked) fill(byId("trouble"), trouble(error));
  }
  if (asked === page.asked) document.body.removeAttribute("aria-busy");
}

/** Repeat the last question at another moment or with another key. */
const again = () => page.asked > 0 && ask(page.way);

const clock = times(again);
for (const way of ["ask", "wake"]) {
  byId(way).addEventListener("submit", (event) => {
    event.preventDefault();
    ask(way);
  });
}
tabs(document.querySelector(".asking .tabs"), (way) => byId("citizen").setAttribute("form", way));
tabs(document.querySelector(".side .tabs"), shown);
theme(graph.recolour);
graph.whenChosen((key) => choose(findMemory(key.slice(0, 2), key.slice(3))));
graph.tools();
byId("citizen").value = new URLSearchParams(location.search).get("citizen") ?? "";
watch();
keys(again);
requestIdleCallback(() => graph.load());
