/** Where each memory lies: focus inside, peripheral around it, background outside; linked ones at like angles. */

const RINGS = ["focus", "peripheral", "background"];
const TURN = 2 * Math.PI;
/** How far out a ring lies, as a share of half the place; a narrow place needs room for the names in focus. */
const REACH = { wide: { focus: 0.34, peripheral: 0.7, background: 0.98 }, narrow: { focus: 0.46, peripheral: 0.76, background: 0.99 } };
export const NARROW_PX = 520;

/** The mean direction of angles, or null when they cancel out or there are none. */
function direction(angles) {
  const [x, y] = angles.reduce(([a, b], angle) => [a + Math.cos(angle), b + Math.sin(angle)], [0, 0]);
  return Math.hypot(x, y) < 1e-6 ? null : (Math.atan2(y, x) + TURN) % TURN;
}

/** Angles of one ring: in the order of where their neighbours further in lie, evenly, turned to lie nearest them. */
function ring(ids, beside, angles) {
  const wish = new Map(ids.map((id) => [id, direction(beside.get(id).filter((at) => angles.has(at)).map((at) => angles.get(at)))]));
  const order = ids.filter((id) => wish.get(id) !== null).sort((a, b) => wish.get(a) - wish.get(b));
  const rest = ids.filter((id) => wish.get(id) === null);
  const slots = [...order, ...rest];
  const step = TURN / Math.max(slots.length, 1);
  const turn = direction(order.map((id, at) => wish.get(id) - at * step)) ?? -Math.PI / 2;
  return slots.map((id, at) => [id, turn + at * step]);
}

/**
 * Places of nodes ({id, tier}) with links ([source, target]) in a place of this width and height, middle at 0, 0.
 * Returns a map from id to {x, y}.
 */
export function places(nodes, links, width, height) {
  const beside = new Map(nodes.map(({ id }) => [id, []]));
  for (const [source, target] of links) {
    beside.get(source).push(target);
    beside.get(target).push(source);
  }
  const reach = REACH[width < NARROW_PX ? "narrow" : "wide"];
  const [angles, found] = [new Map(), new Map()];
  for (const tier of RINGS) {
    const ids = nodes.filter((node) => node.tier === tier).map(({ id }) => id);
    ring(ids, beside, angles).forEach(([id, angle], at) => {
      const out = reach[tier] * (tier === "background" && ids.length > 24 && at % 2 ? 0.93 : 1);
      angles.set(id, angle);
      found.set(id, { x: (width / 2) * out * Math.cos(angle), y: (height / 2) * out * Math.sin(angle) });
    });
  }
  return found;
}
