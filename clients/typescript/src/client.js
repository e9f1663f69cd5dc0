// Send a request, read the answer, and send it again where that is safe.
//
// Reads are repeated. So are writes that are applied once by an id: each gets one here unless it has one. When an
// answer is lost, the repeated command returns its receipt with `duplicate`.

import { SubstrateError, Unreachable, readError } from "./errors.js";
import { readEvents } from "./events.js";
import { OPERATIONS } from "./operations.js";

/** @typedef {{ path?: Record<string, unknown>, query?: Record<string, unknown>, header?: Record<string, unknown>, body?: unknown }} Input */
/** @typedef {{ signal?: AbortSignal }} Options */

const HOME = "http://127.0.0.1:8000";
const KEY = "idempotency-key";
const ATTEMPTS = 5;
const TIMEOUT_MS = 30_000;
/** A long text is read by the embedding model before the answer: so much longer may an answer take. */
const BYTES_A_MS = 5;
/** How long a call is repeated. A `Retry-After` beyond it throws at once. */
const PATIENCE_MS = 60_000;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** Between the end of a stream of changes and its next beginning. */
const RECONNECT_MS = 1_000;

export class Substrate {
  #url;
  #key;
  #fetch;
  #timeout;
  #attempts;

  /** @param {import("./index.js").ClientOptions} [options] */
  constructor({ url, key, fetch: send, timeoutMs = TIMEOUT_MS, attempts = ATTEMPTS } = {}) {
    /** @type {Record<string, string | undefined>} */
    const environment = /** @type {any} */ (globalThis).process?.env ?? {};
    this.#url = (url || environment.SUBSTRATE_BASE_URL || HOME).replace(/\/+$/, "");
    this.#key = (key ?? environment.SUBSTRATE_API_KEY ?? "").trim();
    this.#fetch = send ?? ((/** @type {string} */ to, /** @type {RequestInit} */ how) => fetch(to, how));
    this.#timeout = timeoutMs;
    this.#attempts = attempts;
    for (const name of Object.keys(OPERATIONS)) {
      const call = (/** @type {Input} */ input, /** @type {Options} */ options) => this.#call(name, input, options);
      Object.defineProperty(this, name, { value: call });
    }
  }

  /**
   * @param {string} name
   * @param {Input} [input]
   * @param {Options} [options]
   */
  async *pages(name, input = {}, options = {}) {
    /** @type {unknown} */
    let cursor = input.query?.cursor;
    do {
      const query = cursor ? { ...input.query, cursor } : input.query;
      const page = await this.#call(name, { ...input, query }, options);
      yield page;
      cursor = page.next;
    } while (cursor);
  }

  /**
   * @param {Record<string, unknown>} query
   * @param {Options} [options]
   */
  async *watch(query, options = {}) {
    /** @type {string | undefined} */
    let place;
    for (;;) {
      // In the query, because a page of another origin may not send `Last-Event-ID`.
      const from = place === undefined ? query : { ...query, after: place };
      /** @type {Response} */
      const answer = await this.#call("stream_changes", { query: from }, options);
      const events = readEvents(/** @type {ReadableStream<Uint8Array>} */ (answer.body));
      try {
        for (;;) {
          const read = await nextUnlessLost(events, options.signal);
          if (read === undefined) break;
          place = read.id ?? place;
          if (read.event) yield { event: read.event, cursor: place, data: JSON.parse(read.data) };
        }
      } finally {
        await events.return(undefined);
      }
      await pause(RECONNECT_MS, options.signal);
    }
  }

  /**
   * @param {string} name
   * @param {Input} [input]
   * @param {Options} [options]
   * @returns {Promise<any>}
   */
  async #call(name, input = {}, { signal } = {}) {
    const row = OPERATIONS[name];
    if (row === undefined) throw new TypeError(`the service has no operation ${name}`);
    const [method, template, repeats, place] = row;
    const url = this.#url + fillPath(template, input.path ?? {}) + toQuery(input.query ?? {});
    const { headers, body } = this.#prepare(input, place);
    const fields = /** @type {Record<string, unknown> | undefined} */ (input.body);
    const isRepeatable = typeof repeats === "string" ? !fields?.[repeats] : repeats;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const begun = Date.now();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sendOnce(url, { method, headers, body: text }, signal);
      } catch (error) {
        if (!(error instanceof SubstrateError)) throw error;
        const mayRepeat = error.isUnsent || (isRepeatable && error.isUnavailable);
        const wait = choosePause(error, attempt);
        const isOver = attempt >= this.#attempts || Date.now() - begun + wait >= PATIENCE_MS;
        if (!mayRepeat || isOver) throw error;
        await pause(wait, signal);
      }
    }
  }

  /**
   * The headers and the body of a request, with the id by which it is applied once.
   *
   * @param {Input} input
   * @param {string | null} place
   */
  #prepare({ header = {}, body }, place) {
    const headers = new Headers();
    for (const [name, value] of Object.entries(header)) {
      if (value !== undefined && value !== null) headers.set(name, String(value));
    }
    if (this.#key) headers.set("authorization", `Bearer ${this.#key}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    const fields = /** @type {Record<string, unknown>} */ (body ?? {});
    if (place === KEY) {
      if (!headers.has(KEY)) headers.set(KEY, String(fields.command_id ?? newId()));
    } else if (place !== null && !fields[place]) {
      return { headers, body: { ...fields, [place]: newId() } };
    }
    return { headers, body };
  }

  /**
   * The answer to one request: its JSON, its text, or the response itself where it is a file or a stream.
   *
   * @param {string} url
   * @param {{ method: string, headers: Headers, body: string | undefined }} request
   * @param {AbortSignal | undefined} signal
   */
  async #sendOnce(url, request, signal) {
    signal?.throwIfAborted();
    const cut = new AbortController();
    const abort = () => cut.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const limit = this.#timeout + (request.body?.length ?? 0) / BYTES_A_MS;
    const timer = setTimeout(() => cut.abort(new Error(`no answer in ${limit} ms`)), limit);
    let keepsSignal = false;
    try {
      const answer = await this.#fetch(url, { ...request, signal: cut.signal });
      if (answer.status === 304) return undefined;
      if (!answer.ok) throw await readError(answer);
      const kind = answer.headers.get("content-type") ?? "";
      if (kind.includes("json") && !kind.includes("ndjson")) return JSON.parse(await answer.text());
      if (kind.startsWith("text/plain")) return await answer.text();
      keepsSignal = true;
      return answer;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error instanceof SubstrateError ? error : new Unreachable(url, error);
    } finally {
      clearTimeout(timer);
      if (!keepsSignal) signal?.removeEventListener("abort", abort);
    }
  }
}

/**
 * The next event; undefined when the stream ended or was lost, which the caller mends by asking anew.
 *
 * @param {ReturnType<typeof readEvents>} events
 * @param {AbortSignal | undefined} signal
 */
async function nextUnlessLost(events, signal) {
  try {
    const read = await events.next();
    return read.done ? undefined : read.value;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

/**
 * @param {string} template
 * @param {Record<string, unknown>} values
 */
function fillPath(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    if (value === undefined || value === null || value === "") throw new TypeError(`path.${name} is missing`);
    return encodeURIComponent(String(value)).replaceAll(".", "%2E");
  });
}

/** A page that came over plain HTTP has no `crypto.randomUUID`. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {Record<string, unknown>} values */
function toQuery(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) query.append(name, one instanceof Date ? one.toISOString() : String(one));
    }
  }
  const text = query.toString();
  return text && `?${text}`;
}

/**
 * Milliseconds: those of `Retry-After`, else an exponential backoff.
 *
 * @param {SubstrateError} error
 * @param {number} attempt
 */
function choosePause(error, attempt) {
  if (error.retryAfter !== undefined) return error.retryAfter * 1000;
  return Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** (attempt - 1)) + Math.random() * SHORTEST_PAUSE_MS;
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<void>}
 */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
