// What the tests of the adapters share.

import { readFileSync, rmSync, writeFileSync } from "node:fs";

export const skip = process.env.SUBSTRATE_BASE_URL ? false : "SUBSTRATE_BASE_URL names no service";
export const NOTICE = "Recalled from long-term memory";
/** A citizen whom nobody else has used. */
export const citizen = () => `ts${crypto.randomUUID().slice(0, 13)}`;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const finishReason = { unified: /** @type {const} */ ("stop"), raw: undefined };

/** An answer of a model. @param {string} text */
export const answered = (text) => ({
  content: [{ type: /** @type {const} */ ("text"), text }],
  finishReason,
  usage,
  warnings: [],
});

/** The parts of a streamed answer. @param {string[]} texts */
export const streamed = (...texts) => [
  { type: /** @type {const} */ ("text-start"), id: "1" },
  ...texts.map((delta) => ({ type: /** @type {const} */ ("text-delta"), id: "1", delta })),
  { type: /** @type {const} */ ("text-end"), id: "1" },
  { type: /** @type {const} */ ("finish"), finishReason, usage },
];

/**
 * What was heard, in no order that says anything.
 * @param {import("substrate-client").Substrate} memory @param {string} citizen_id @param {string} [episode]
 */
export async function turnsOf(memory, citizen_id, episode) {
  const { memories } = await memory.list_memories({ query: { citizen_id, node_type: "Turn" } });
  return memories.filter((turn) => !episode || turn.episode_id === episode).map((turn) => turn.description).sort();
}

/**
 * A message of another conversation.
 * @param {import("substrate-client").Substrate} memory @param {string} citizen_id @param {string} content
 */
export const tell = (memory, citizen_id, content) =>
  memory.hear({ path: { episode_id: "last-year" }, body: { citizen_id, messages: [{ role: "user", content }] } });

/**
 * Runs the example of a section of the page on frameworks with a model, for this citizen; what it printed.
 * @param {string} section @param {object} model @param {string} citizen_id
 */
export async function runExample(section, model, citizen_id) {
  const page = readFileSync(new URL("../../../../docs/frameworks.md", import.meta.url), "utf8");
  const code = page.split(`\n## ${section}\n\n`)[1]?.match(/^\x60{3}ts\n(.*?)^\x60{3}$/ms)?.[1];
  if (!code) throw new Error(`the page has no example of ${section}`);
  const file = new URL(`.example-${process.pid}.mjs`, import.meta.url);
  const lines = /** @type {unknown[]} */ ([]);
  Object.assign(globalThis, { model, printed: lines });
  const mine = code.replace('"ada"', JSON.stringify(citizen_id)).replace("console.log(", "printed.push(");
  writeFileSync(file, mine);
  await import(file.href).finally(() => rmSync(file));
  return lines;
}
