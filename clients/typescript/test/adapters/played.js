// What the tests of the adapters share.

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
