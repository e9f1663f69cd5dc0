/** Make elements from values. Texts become text nodes, never markup, so that no memory can inject markup. */

/** An element: `properties` are set on it, `children` are elements or texts; null and false are left out. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    // By the object model: the policy of the page forbids an attribute `style`.
    if (name === "style") element.style.cssText = value;
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  const present = children.flat(2).filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...present.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

const SPACE = "http://www.w3.org/2000/svg";

/** An element of a drawing, with these attributes. */
export function shape(tag, attributes, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button that does `act` when it is pressed. */
export function button(properties, act, ...children) {
  const element = el("button", { type: "button", ...properties }, ...children);
  element.addEventListener("click", act);
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

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const MINUTE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});

/** A moment as a day, and to the minute, in UTC. */
export const day = (at) => DAY.format(new Date(at));
export const minute = (at) => `${MINUTE.format(new Date(at))} UTC`;

const STEPS = [["year", 31_557_600], ["month", 2_629_800], ["week", 604_800], ["day", 86_400], ["hour", 3600], ["minute", 60]];
const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** How long ago a moment was: "3 days ago". */
export function ago(at) {
  const seconds = (Date.parse(at) - Date.now()) / 1000;
  const [unit, size] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? [];
  return unit ? AGO.format(Math.round(seconds / size), unit) : "just now";
}

/** `3 memories`, `1 memory`. */
export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** Whether the reader wants no motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
