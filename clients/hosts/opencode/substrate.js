// Substrate in OpenCode: it recalls before a prompt and hears after a turn. `substrate connect opencode` wrote this
// file. Everything goes through the hook program; where the service is gone or slow, nothing is said.
import { spawn } from "node:child_process";

const HOOK = ["SUBSTRATE_HOOK"];
const LIMIT_MS = 4_000;
const LAST_TURNS = 3;

function call(event) {
  return new Promise((resolve) => {
    const hook = spawn(HOOK[0], HOOK.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
    const limit = setTimeout(() => hook.kill(), event.messages ? 3 * LIMIT_MS : LIMIT_MS);
    const done = (text) => (clearTimeout(limit), resolve(text));
    let printed = "";
    hook.stdout.on("data", (part) => (printed += part));
    hook.stdin.on("error", () => {});
    hook.on("error", () => done(""));
    hook.on("close", () => {
      try {
        done(JSON.parse(printed).hookSpecificOutput.additionalContext);
      } catch {
        done("");
      }
    });
    hook.stdin.end(JSON.stringify(event));
  });
}

/** The words of a message, without what plugins added. */
const textOf = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text).join("\n");

export const Substrate = async ({ client }) => ({
  "chat.message": async ({ sessionID }, { message, parts }) => {
    const prompt = textOf(parts);
    if (!prompt) return;
    const text = await call({ hook_event_name: "UserPromptSubmit", session_id: sessionID, prompt });
    if (!text) return;
    const id = `prt_${message.id.slice(4)}m`;
    parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true });
  },
  event: async ({ event }) => {
    if (event.type !== "session.idle") return;
    try {
      const path = { id: event.properties.sessionID };
      if ((await client.session.get({ path })).data?.parentID) return; // another agent works for this one
      const said = (await client.session.messages({ path, query: { limit: 50 } })).data ?? [];
      const turns = said.flatMap(({ info }, place) => (info.role === "user" ? [place] : []));
      const messages = said.slice(turns.at(-LAST_TURNS) ?? 0).map(({ info, parts }) => ({
        id: info.id,
        role: info.role,
        content: textOf(parts),
        timestamp: new Date(info.time.created).toISOString(),
      }));
      await call({ hook_event_name: "Stop", session_id: path.id, messages });
    } catch {
      // a memory that fails must not stop a session
    }
  },
});
