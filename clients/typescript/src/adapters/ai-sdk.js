// Memory for the AI SDK: tools, and a middleware that recalls before a model is called and hears after it.

import { jsonSchema, tool } from "ai";

import { hear, textOf, TOOLS, toolWork, withMemories } from "./recalled.js";

/** @param {string[]} names @returns {import("ai").JSONSchema7} */
const texts = (names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: /** @type {const} */ ("string") }])),
  required: names,
  additionalProperties: false,
});

/**
 * A message with an id by its place and its words, so that the steps of one answer store it once.
 * @param {{ at: number, role: string, content: string }} message
 */
async function named({ at, role, content }) {
  const words = new TextEncoder().encode(`${at}\n${role}\n${content}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", words));
  const id = [...digest.slice(0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, role, content };
}

/** @type {typeof import("./ai-sdk.js").memoryTools} */
export function memoryTools(memory, options) {
  const work = toolWork(memory, options);
  return {
    recall: tool({ description: TOOLS.recall, inputSchema: jsonSchema(texts(["query"])), execute: work.recall }),
    remember: tool({
      description: TOOLS.remember,
      inputSchema: jsonSchema(texts(["name", "text"])),
      execute: work.remember,
    }),
    hear: tool({
      description: TOOLS.hear,
      inputSchema: jsonSchema(texts(["conversation", "speaker", "text"])),
      execute: work.hear,
    }),
  };
}

/** @type {typeof import("./ai-sdk.js").memoryMiddleware} */
export function memoryMiddleware(memory, options) {
  /** @param {{ role: string, content: unknown }[]} prompt @param {string} answer */
  const keep = async (prompt, answer) => {
    if (!answer.trim()) return; // a step that only calls tools says nothing yet
    const at = prompt.findLastIndex(({ role }) => role === "user");
    const messages = [
      { at, role: "user", content: textOf(prompt[at]?.content) },
      { at: prompt.length, role: "assistant", content: answer },
    ];
    await hear(memory, await Promise.all(messages.map(named)), options);
  };
  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => ({ ...params, prompt: await withMemories(memory, params.prompt, options) }),
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      await keep(params.prompt, textOf(result.content));
      return result;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...rest } = await doStream();
      let answer = "";
      const heard = new TransformStream({
        transform(part, controller) {
          if (part.type === "text-delta") answer += part.delta;
          controller.enqueue(part);
        },
        flush: () => keep(params.prompt, answer),
      });
      return { stream: stream.pipeThrough(heard), ...rest };
    },
  };
}
