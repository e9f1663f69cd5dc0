export interface MemoryOptions {
  /** Whose memory it is. */
  citizen_id: string;
  /** The most tokens that a recall brings; 800. */
  maxTokens?: number;
  /** Where what is said is kept, and never its own answer; without it nothing is heard. */
  conversation?: string;
}
export type ToolTexts = Record<"recall" | "remember" | "hear", string>;
export interface ToolWork {
  recall(input: { query: string }): Promise<string>;
  remember(input: { name: string; text: string }): Promise<string>;
  hear(input: { conversation: string; speaker: string; text: string }): Promise<string>;
}
