/** Errors, shown where they happened: the message, what to do, and each fault. */

import { el } from "./element.js";

/** The error as a box. Any error that is not a refusal of the service is shown as an error of this page. */
export function trouble(error) {
  const faults = error.faults ?? [];
  return el("div", { className: "trouble" },
    el("b", {}, error.title ?? "This page failed"),
    el("p", {}, error.message, error.remedy ? ` ${error.remedy}` : ""),
    faults.length ? el("ul", {}, faults.map((fault) => el("li", {}, fault))) : null);
}
