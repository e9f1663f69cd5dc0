/** Light, dark, or as the system says. */

import { byId } from "./element.js";

const KEPT = "substrate-theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };
const system = matchMedia("(prefers-color-scheme: dark)");

/** Wire the button; `changed` is called when the colours change. */
export function theme(changed) {
  const button = byId("theme");
  const use = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    localStorage.setItem(KEPT, name);
    button.textContent = `Theme: ${name}`;
    changed();
  };
  button.addEventListener("click", () => use(NEXT[localStorage.getItem(KEPT)] ?? "light"));
  system.addEventListener("change", changed);
  use(localStorage.getItem(KEPT) in NEXT ? localStorage.getItem(KEPT) : "auto");
}

/** The value of a colour of the style sheet, in a form that the drawing library can read. */
export function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
