/** The two axes of time as sliders over the river: what was true, and what was known. Their right end is now. */

import { byId, day, minute } from "./element.js";

const LAST = 1000;
const DAY_MS = 86_400_000;
/** A drag asks again when it rests this long. */
const REST_MS = 180;

/** One slider over a span of time, which begins with the life. */
function axis(id) {
  const input = byId(id);
  const output = input.parentElement.querySelector(`output[for="${id}"]`);
  let [from, until] = [Date.now() - DAY_MS, Date.now()];
  const at = () => (Number(input.value) >= LAST ? null : new Date(from + ((until - from) * input.value) / LAST));
  const tell = () => {
    const moment = at();
    output.textContent = moment === null ? "now" : until - from < 3 * DAY_MS ? minute(moment) : day(moment);
    input.setAttribute("aria-valuetext", output.textContent);
    input.parentElement.classList.toggle("past", moment !== null);
    input.parentElement.style.setProperty("--part", input.value / LAST);
  };
  input.addEventListener("input", tell);
  tell();
  return {
    input, at, tell,
    reach(begin, end) {
      const moment = at();
      [from, until] = [begin, end];
      this.set(moment);
    },
    /** Move to a moment; null is now. */
    set(moment) {
      const part = moment === null ? 1 : (moment - from) / (until - from);
      input.value = Math.round(Math.min(1, Math.max(0, part)) * LAST);
      tell();
    },
  };
}

/** Wire both; `moved(axis)` is called while a slider is dragged, whenever it rests, and when it is released. */
export function times(moved) {
  const [valid, known] = [axis("true-at"), axis("known-at")];
  const now = byId("now");
  let resting = 0;
  let told = "";
  const state = () => `${valid.input.value} ${known.input.value}`;
  const changed = (which) => {
    clearTimeout(resting);
    now.hidden = valid.at() === null && known.at() === null;
    if (state() === told) return;
    told = state();
    moved(which);
  };
  for (const [name, one] of [["true", valid], ["known", known]]) {
    one.input.addEventListener("input", () => {
      clearTimeout(resting);
      resting = setTimeout(() => changed(name), REST_MS);
    });
    one.input.addEventListener("change", () => changed(name));
  }
  const set = (first, second) => {
    valid.set(first);
    known.set(second);
    told = state();
    now.hidden = valid.at() === null && known.at() === null;
  };
  now.addEventListener("click", () => {
    set(null, null);
    moved("now");
  });
  set(null, null);
  return {
    set,
    /** The moments of both axes; null is now. */
    moments: () => ({ valid: valid.at(), known: known.at() }),
    /** The fields of a request for this moment; none for now. */
    fields() {
      if (valid.at() === null && known.at() === null) return {};
      const moment = new Date();
      return { as_of_time: (valid.at() ?? moment).toISOString(), known_at: (known.at() ?? moment).toISOString() };
    },
    /** The spans of both axes. What was told as it happened was known all along: then both have the same span. */
    reach([from, until], knownFrom) {
      valid.reach(from, until);
      const alike = knownFrom === null || knownFrom - from < 0.1 * (until - from);
      known.reach(alike ? from : knownFrom - Math.max(60_000, (until - knownFrom) / 20), until);
    },
  };
}
