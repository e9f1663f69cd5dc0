/** Replay: the last question is asked from the beginning of the life on until now, moment after moment. */

import { byId } from "./element.js";

const STEPS = 12;
const REST_MS = 1100;

/**
 * Wire the button. `moments()` are the first moment of the life and of what is known of it; `ask(valid, known)` asks
 * there, null is now. Any other use of the page ends the replay.
 */
export function replay(moments, ask) {
  const button = byId("replay");
  let running = 0;
  const stop = () => {
    running += 1;
    button.setAttribute("aria-pressed", "false");
    button.textContent = "▶ Replay";
  };
  const play = async () => {
    const mine = (running += 1);
    button.setAttribute("aria-pressed", "true");
    button.textContent = "■ Stop";
    const [from, known] = moments();
    const now = Date.now();
    for (let step = 1; step < STEPS && mine === running; step += 1) {
      const at = new Date(from + ((now - from) * step) / STEPS);
      await ask(at, known < at ? at : null); // of what was told later nothing was known then: that would show nothing
      await new Promise((rest) => { setTimeout(rest, REST_MS); });
    }
    if (mine !== running) return;
    await ask(null, null);
    stop();
  };
  button.addEventListener("click", () => (button.getAttribute("aria-pressed") === "true" ? stop() : play()));
  for (const kind of ["pointerdown", "keydown", "popstate"]) {
    addEventListener(kind, (event) => event.target === button || (button.getAttribute("aria-pressed") === "true" && stop()), true);
  }
}
