/** Question, moments and citizen in the address, so that a link says the same and Back goes back. */

/** What the address asks for. */
export function read() {
  const fields = new URLSearchParams(location.search);
  const moment = (name) => {
    const time = Date.parse(fields.get(name) ?? "");
    return Number.isNaN(time) ? null : new Date(time);
  };
  return { citizen: fields.get("citizen") ?? "", question: fields.get("ask") ?? "", mode: fields.get("wake") ?? "",
    then: fields.has("then"), valid: moment("true"), known: moment("known") };
}

/** Write what is asked. A new question is a step back to; another moment of the same question is none. */
export function write({ citizen, way, question, mode, valid, known }, { step }) {
  const fields = new URLSearchParams({ citizen });
  if (way === "ask") fields.set("ask", question);
  if (way === "wake") fields.set("wake", mode);
  if (way === "then") fields.set("then", "");
  if (valid) fields.set("true", valid.toISOString());
  if (known) fields.set("known", known.toISOString());
  const address = `?${fields}`;
  if (address === location.search) return;
  history[step ? "pushState" : "replaceState"](null, "", address);
}
