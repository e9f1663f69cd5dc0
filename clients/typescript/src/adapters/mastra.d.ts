import type { Processor } from "@mastra/core/processors";
import type { Tool } from "@mastra/core/tools";

import type { Substrate } from "../index.js";
import type { MemoryOptions } from "./options.js";

/** The tools `recall`, `remember` and `hear` on the memory of the citizen. */
export function memoryTools(
  memory: Substrate,
  options: MemoryOptions,
): {
  recall: Tool<{ query: string }>;
  remember: Tool<{ name: string; text: string }>;
  hear: Tool<{ conversation: string; speaker: string; text: string }>;
};
/** Recalls before a model is called, fenced; with a `conversation` hears what was said.
 * For `inputProcessors`, and to hear for `outputProcessors` too. */
export function memoryProcessor(
  memory: Substrate,
  options: MemoryOptions,
): Required<Pick<Processor<"substrate-memory">, "id" | "processLLMRequest" | "processOutputResult">>;
