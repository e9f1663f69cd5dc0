/** Make elements from values. Texts become text nodes, never markup, so that no memory can inject markup. */

/** An element: `properties` are set on it, `children` are elements or texts; null and false are left out. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name in element && name !== "style") element[name] = value;
    else element.setAttribute(name, value);
  }
  const present = children.flat(2).filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...present.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** Replace the content of an element with these children. */
export function fill(place, ...children) {
  place.replaceChildren(...el("div", {}, ...children).childNodes);
}

export const byId = (id) => document.getElementById(id);

/** `design_retrieval` as "design retrieval". */
export const plain = (name) => String(name ?? "").replaceAll("_", " ").toLowerCase();

/** A number in [0, 1] as a bar with its name and value. */
export function share(name, value) {
  return el("div", { className: "share" },
    el("span", {}, plain(name)),
    el("meter", { min: 0, max: 1, value, "aria-label": plain(name) }),
    el("span", { className: "figure" }, value.toFixed(2)));
}

/** Feelings as a list with their strength, strongest first. */
export function feelings(vector) {
  const felt = Object.entries(vector ?? {}).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  if (!felt.length) return null;
  return el("ul", { className: "chips", "aria-label": "Feelings" },
    felt.map(([name, value]) => el("li", {}, name, el("small", {}, ` ${value}`))));
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const MINUTE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});

/** A moment as a day, and to the minute, in UTC. */
export const day = (at) => DAY.format(new Date(at));
export const minute = (at) => `${MINUTE.format(new Date(at))} UTC`;
