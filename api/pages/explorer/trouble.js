/** What went wrong, where it went wrong: what, what to do, and each fault. */

import { el } from "./element.js";

/** The error as a box. Anything but a refusal of the service is an error of this page, and said to be one. */
export function trouble(error) {
  const faults = error.faults ?? [];
  return el("div", { className: "trouble" },
    el("b", {}, error.title ?? "This page failed"),
    el("p", {}, error.message, error.remedy ? ` ${error.remedy}` : ""),
    faults.length ? el("ul", {}, faults.map((fault) => el("li", {}, fault))) : null);
}
