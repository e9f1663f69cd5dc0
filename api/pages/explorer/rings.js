/** Positions of the memories: focus inside, peripheral around it, background outside; linked ones at near angles. */

const RINGS = ["focus", "peripheral", "background"];
const TURN = 2 * Math.PI;
/** The radius of each ring, as a share of half the drawing; a narrow one needs room for the names in focus. */
const REACH = { wide: { focus: 0.34, peripheral: 0.7, background: 0.98 }, narrow: { focus: 0.46, peripheral: 0.76, background: 0.99 } };
export const NARROW_PX = 520;

/** The mean direction of angles, or null when they cancel out or there are none. */
function direction(angles) {
  const [x, y] = angles.reduce(([a, b], angle) => [a + Math.cos(angle), b + Math.sin(angle)], [0, 0]);
  return Math.hypot(x, y) < 1e-6 ? null : (Math.atan2(y, x) + TURN) % TURN;
}

/** Angles of one ring: evenly spaced, in the order of their inner neighbours and as near to them as possible. */
function ring(ids, neighbours, angles) {
  const inner = (id) => neighbours.get(id).filter((other) => angles.has(other)).map((other) => angles.get(other));
  const target = new Map(ids.map((id) => [id, direction(inner(id))]));
  const order = ids.filter((id) => target.get(id) !== null).sort((a, b) => target.get(a) - target.get(b));
  const rest = ids.filter((id) => target.get(id) === null);
  const slots = [...order, ...rest];
  const step = TURN / Math.max(slots.length, 1);
  const turn = direction(order.map((id, at) => target.get(id) - at * step)) ?? -Math.PI / 2;
  return slots.map((id, at) => [id, turn + at * step]);
}

/**
 * The position of each node ({id, tier}) with links ([source, target]) in a drawing of this width and height, with
 * its middle at (0, 0). Returns a map from id to {x, y}.
 */
export function places(nodes, links, width, height) {
  const neighbours = new Map(nodes.map(({ id }) => [id, []]));
  for (const [source, target] of links) {
    neighbours.get(source).push(target);
    neighbours.get(target).push(source);
  }
  const reach = REACH[width < NARROW_PX ? "narrow" : "wide"];
  const [angles, positions] = [new Map(), new Map()];
  for (const tier of RINGS) {
    const ids = nodes.filter((node) => node.tier === tier).map(({ id }) => id);
    ring(ids, neighbours, angles).forEach(([id, angle], at) => {
      const out = reach[tier] * (tier === "background" && ids.length > 24 && at % 2 ? 0.93 : 1);
      angles.set(id, angle);
      positions.set(id, { x: (width / 2) * out * Math.cos(angle), y: (height / 2) * out * Math.sin(angle) });
    });
  }
  return positions;
}
