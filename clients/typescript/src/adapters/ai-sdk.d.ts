import type { LanguageModelMiddleware, Tool } from "ai";

import type { Substrate } from "../index.js";
import type { MemoryOptions } from "./options.js";

/** The tools `recall`, `remember` and `hear` on the memory of the citizen. */
export function memoryTools(
  memory: Substrate,
  options: MemoryOptions,
): {
  recall: Tool<{ query: string }, string>;
  remember: Tool<{ name: string; text: string }, string>;
  hear: Tool<{ conversation: string; speaker: string; text: string }, string>;
};
/** Recalls before a model is called, fenced, and with a `conversation` hears what was said. For `wrapLanguageModel`. */
export function memoryMiddleware(memory: Substrate, options: MemoryOptions): LanguageModelMiddleware;
