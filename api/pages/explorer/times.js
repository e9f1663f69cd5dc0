/** The sliders of the two time axes: what was true, and what was known. Their right end is now. */

import { byId, day, minute } from "./element.js";

const LAST = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** One slider over a span of time that grows with the moments shown. */
function axis(id) {
  const input = byId(id);
  const output = input.parentElement.querySelector(`output[for="${id}"]`);
  let from = Date.now() - DAY_MS;
  let until = Date.now();
  let begun = false;
  const at = () => (Number(input.value) >= LAST ? null : new Date(from + ((until - from) * input.value) / LAST));
  const tell = () => {
    const moment = at();
    output.textContent = moment === null ? "now" : until - from < 3 * DAY_MS ? minute(moment) : day(moment);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", tell);
  tell();
  return {
    input, at, tell,
    /** Extend the slider to before the earliest of these moments; its position stays. */
    reach(moments) {
      const least = moments.reduce((a, b) => Math.min(a, Date.parse(b)), Infinity);
      if (at() !== null || !Number.isFinite(least)) return;
      until = Date.now();
      const wanted = least - Math.max((until - least) / 20, MINUTE_MS);
      from = begun ? Math.min(from, wanted) : wanted;
      begun = true;
    },
    renew() { begun = false; },
  };
}

/** Wire both; `moved` is called when a slider is released at a new position. */
export function times(moved) {
  const [valid, known] = [axis("true-at"), axis("known-at")];
  const now = byId("now");
  const changed = () => {
    now.disabled = valid.at() === null && known.at() === null;
    moved();
  };
  for (const one of [valid, known]) one.input.addEventListener("change", changed);
  const back = () => {
    for (const one of [valid, known]) {
      one.input.value = LAST;
      one.tell();
    }
    now.disabled = true;
  };
  now.addEventListener("click", () => {
    back();
    moved();
  });
  return {
    /** The fields of a request for this moment; none for now. */
    fields() {
      if (valid.at() === null && known.at() === null) return {};
      const moment = new Date();
      return { as_of_time: (valid.at() ?? moment).toISOString(), known_at: (known.at() ?? moment).toISOString() };
    },
    reach(nodes) {
      valid.reach(nodes.map((node) => node.valid_at));
      known.reach(nodes.map((node) => node.created_at));
    },
    /** Reset both sliders for another citizen. */
    renew() {
      for (const one of [valid, known]) one.renew();
      back();
    },
  };
}
