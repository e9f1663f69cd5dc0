/**
 * The server-sent events of a stream. One without a name or data is given too: its id is a place in the feed.
 *
 * @param {ReadableStream<Uint8Array>} stream
 * @returns {AsyncGenerator<{ event: string, id: string | undefined, data: string }>}
 */
export async function* readEvents(stream) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  /** @type {{ event: string, id: string | undefined, data: string[] }} */
  let made = { event: "", id: undefined, data: [] };
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A CR at the end may be half of a CRLF.
      const end = rest.endsWith("\r") ? rest.length - 1 : rest.length;
      const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "") + rest.slice(end);
      for (const line of lines) {
        if (line === "") {
          if (made.event || made.id !== undefined || made.data.length) yield { ...made, data: made.data.join("\n") };
          made = { event: "", id: undefined, data: [] };
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "event") made.event = text;
        else if (field === "id") made.id = text;
        else if (field === "data") made.data.push(text);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
