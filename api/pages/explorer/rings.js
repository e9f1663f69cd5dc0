/**
 * Positions of the memories: the question is the middle. Focus lies inside, peripheral around it, background outside,
 * and within its ring a memory is nearer to the middle the better it fits; linked ones lie at near angles.
 */

const RINGS = ["focus", "peripheral", "background"];
const TURN = 2 * Math.PI;
/** The radius of each ring, as a share of half the drawing; a narrow one needs room for the names in focus. */
const REACH = { wide: { focus: 0.36, peripheral: 0.72, background: 0.98 }, narrow: { focus: 0.46, peripheral: 0.78, background: 0.99 } };
/** How deep a ring is: so much nearer to the middle lies what fits best. */
const DEPTH = 0.16;
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
 * The position of each node ({id, tier, active}) with links ([source, target]) in a drawing of this width and height, with
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
    const fits = new Map(nodes.map(({ id, active }) => [id, active]));
    const most = Math.max(...ids.map((id) => fits.get(id)), 0.01);
    ring(ids, neighbours, angles).forEach(([id, angle], at) => {
      const out = reach[tier] * (tier === "background" && ids.length > 24 && at % 2 ? 0.93 : 1) * (1 - DEPTH * (fits.get(id) / most));
      angles.set(id, angle);
      positions.set(id, { x: (width / 2) * out * Math.cos(angle), y: (height / 2) * out * Math.sin(angle) });
    });
  }
  return positions;
}

/** A free place for one more memory in its ring: near what it is linked to, and apart from those that lie there. */
export function seat(tier, near, taken, width, height) {
  const reach = REACH[width < NARROW_PX ? "narrow" : "wide"][tier];
  const angleOf = ({ x, y }) => Math.atan2(y / height, x / width);
  const apart = (a, b) => Math.abs(((a - b + 3 * Math.PI) % TURN) - Math.PI);
  const wanted = direction(near.map(angleOf));
  const others = taken.map(angleOf);
  let best = { worth: -Infinity, angle: 0 };
  for (let step = 0; step < 72; step += 1) {
    const angle = (step / 72) * TURN;
    const room = Math.min(0.5, ...others.map((other) => apart(angle, other)));
    const worth = room - (wanted === null ? 0 : 0.12 * apart(angle, wanted));
    if (worth > best.worth) best = { worth, angle };
  }
  return { x: (width / 2) * reach * Math.cos(best.angle), y: (height / 2) * reach * Math.sin(best.angle) };
}
