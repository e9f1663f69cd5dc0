/** Send requests to the service with the key of this tab, and throw its problems as errors. */

const KEY = "substrate-key";

/** A refusal of the service: title, detail, remedy, faults (RFC 9457). */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `The service answered ${status}.`);
    Object.assign(this, { status, title: body.title ?? "The service could not answer", remedy: body.remedy ?? "",
      faults: body.faults ?? [] });
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

const onRefused = [];

/** `listener` is called whenever the service asks for a key, or for another one. */
export function whenRefused(listener) {
  onRefused.push(listener);
}

async function readBody(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return { title: `The service answered ${answer.status}`, detail: text.slice(0, 300) };
  }
}

async function send(path, options = {}) {
  const headers = { ...options.headers };
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Problem(0, { title: "The service does not answer", detail: "No connection to it.",
      remedy: "Is it still running? Ask again in a moment." });
  }
  const body = await readBody(answer);
  if (answer.ok) return body;
  const problem = new Problem(answer.status, body);
  if (answer.status === 401) onRefused.forEach((listener) => listener(problem));
  throw problem;
}

const query = (fields) => new URLSearchParams(Object.entries(fields).filter(([, value]) => value != null)).toString();

export const get = (path, fields = {}, options = {}) => {
  const parameters = query(fields);
  return send(parameters ? `${path}?${parameters}` : path, options);
};

export const post = (path, body, options = {}) => send(path, {
  ...options, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
});

/** All pages of an answer joined into one; `field` names the list that is split over the pages. */
export async function whole(path, field, fields = {}) {
  const first = await get(path, { ...fields, limit: 500 });
  for (let page = first; page.next;) {
    page = await get(path, { ...fields, limit: 500, cursor: page.next });
    first[field].push(...page[field]);
  }
  return first;
}

/** The address of a memory's records. */
export const historyOf = (level, id) => `/v1/memories/${level}/${encodeURIComponent(id)}/history`;

/** The address of `state`, `identity` or `dissonances` of a citizen. */
export const ofCitizen = (citizen, part) => `/v1/citizens/${encodeURIComponent(citizen)}/${part}`;
