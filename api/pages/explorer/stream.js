/** The stream as it is sent, each memory and each link once, put back into the lists that refer to them. */

const named = (lists, of) => Object.fromEntries(
  Object.entries(lists ?? {}).map(([name, names]) => [name, names.map((one) => of[one])]));

/** A record, or a node or edge of the graph, with the fields that are left out where they have their default. */
const whole = (record) => ({ tags: [], unset: [], duplicates: [], version: 1, source: "citizen", ...record });

const said = ({ speaker, name, description }) => (speaker ? `${speaker}: ${description}`
  : description ? `${name}: ${description}` : name);

/** The stream with each memory and link wherever it belongs, from the form `references`. */
export function unfold(sent) {
  const full = (records) => Object.fromEntries(Object.entries(records).map(([name, one]) => [name, whole(one)]));
  const [memories, links] = [full(sent.memories), full(sent.links)];
  const tiers = named({ focus: [], peripheral: [], background: [], ...sent.activation_tiers }, memories);
  const levels = Object.fromEntries(Object.entries(sent.levels).map(([name, { relationships, ...found }]) => (
    [name, { ...named(found, memories), relationships: relationships.map((one) => links[one]) }])));
  const { nodes, edges, ...figures } = sent.traversal_graph;
  const graph = { ...figures,
    nodes: nodes.map((one) => ({ ...memories[one], content: said(memories[one]),
      activation_score: Math.min(1, Math.max(0, memories[one].relevance_score ?? 0)) })),
    edges: Object.entries(edges).map(([one, weight]) => (
      { ...links[one], edge_id: links[one].link_id, traversal_weight: weight })) };
  return { ...sent, memories, links, activation_tiers: tiers, levels, traversal_graph: graph };
}
