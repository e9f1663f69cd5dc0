// Memory for Mastra: tools, and a processor that recalls before a model is called and hears when it has answered.

import { createTool } from "@mastra/core/tools";
import { z } from "zod";

import { hear, textOf, TOOLS, toolWork, withMemories } from "./recalled.js";

const text = z.string();

/** @type {typeof import("./mastra.js").memoryTools} */
export function memoryTools(memory, options) {
  const work = toolWork(memory, options);
  return {
    recall: createTool({
      id: "recall",
      description: TOOLS.recall,
      inputSchema: z.object({ query: text }),
      execute: work.recall,
    }),
    remember: createTool({
      id: "remember",
      description: TOOLS.remember,
      inputSchema: z.object({ name: text, text }),
      execute: work.remember,
    }),
    hear: createTool({
      id: "hear",
      description: TOOLS.hear,
      inputSchema: z.object({ conversation: text, speaker: text, text }),
      execute: work.hear,
    }),
  };
}

/** @type {typeof import("./mastra.js").memoryProcessor} */
export function memoryProcessor(memory, options) {
  return {
    id: "substrate-memory",
    processLLMRequest: async ({ prompt }) => ({ prompt: await withMemories(memory, prompt, options) }),
    processOutputResult: async ({ messageList }) => {
      const said = [...messageList.get.input.db(), ...messageList.get.response.db()];
      const messages = said.map(({ id, role, content }) => ({ id, role, content: textOf(content.parts) }));
      await hear(memory, messages, options);
      return messageList;
    },
  };
}
