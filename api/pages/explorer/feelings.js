/** Feelings and their colours: the same feeling has the same colour in the river, in the graph and on a card. */

import { el } from "./element.js";

/** Hue and saturation of each feeling: warm ones warm, painful ones red to violet, still ones green to blue. */
const HUES = {
  joy: [43, 88], excitement: [32, 90], drive: [22, 88], determination: [6, 58], pride: [36, 72], hope: [54, 72],
  gratitude: [318, 48], love: [348, 74], tenderness: [336, 62], trust: [172, 52], relief: [150, 48], calm: [134, 34],
  curiosity: [208, 72], wonder: [228, 66], awe: [240, 60], anticipation: [196, 60], surprise: [286, 56],
  nostalgia: [24, 40], longing: [318, 44], caution: [80, 34], tension: [4, 50], anger: [0, 72], frustration: [12, 60],
  disgust: [92, 40], fear: [268, 44], uncertainty: [252, 28], confusion: [276, 34], sadness: [222, 38],
  shame: [312, 40], guilt: [304, 34], regret: [232, 30], grief: [236, 34], despair: [258, 36], loneliness: [214, 34],
  boredom: [60, 14], envy: [112, 44],
};
const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

/** A hue for a name without one in the list, always the same for the same name. */
function hashed(name) {
  const sum = [...name].reduce((all, letter) => (all * 31 + letter.codePointAt(0)) >>> 0, 7);
  return [sum % 360, 36];
}

/** The colour of a feeling, or of any name, in the theme of the page. */
export function tint(name) {
  const [hue, saturation] = HUES[name] ?? hashed(name);
  const yellow = hue > 35 && hue < 100; // yellow looks paler than any other hue of the same lightness
  return `hsl(${hue}, ${dark() ? saturation * 0.9 : saturation}%, ${dark() ? 64 : yellow ? 47 : 55}%)`;
}

/** The strongest feeling of a memory; undefined where it felt nothing. */
export function dominant(vector) {
  return Object.entries(vector ?? {}).sort((a, b) => b[1] - a[1]).find(([, strength]) => strength > 0)?.[0];
}

/** Feelings as a list with their strength, strongest first. */
export function feelings(vector) {
  const felt = Object.entries(vector ?? {}).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  if (!felt.length) return null;
  return el("ul", { className: "chips", "aria-label": "Feelings" },
    felt.map(([name, value]) => el("li", {}, el("i", { className: "swatch", style: `background:${tint(name)}` }), name,
      el("small", {}, ` ${Math.round(value * 100) / 100}`))));
}
