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
    const said = prompt.map(({ role, content }) => ({ role, content: textOf(content) }));
    await hear(memory, [...said, { role: "assistant", content: answer }], options);
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
