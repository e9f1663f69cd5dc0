// How requests are sent, and sent again, against a service that is played here.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Substrate, SubstrateError, Unreachable } from "substrate-client";

/** @param {number} status @param {object} body @param {Record<string, string>} [headers] */
const json = (status, body, headers = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
const lost = () => Promise.reject(new TypeError("fetch failed"));

/** @param {(() => Response | Promise<Response>)[]} answers */
function played(answers) {
  /** @type {{ url: string, request: RequestInit }[]} */
  const sent = [];
  const memory = new Substrate({
    url: "http://service.test",
    key: "sk-test",
    fetch: async (url, request) => {
      sent.push({ url, request });
      const answer = answers[sent.length - 1];
      assert.ok(answer, "one request too many");
      return answer();
    },
  });
  return { memory, sent };
}

/** @param {{ request: RequestInit }[]} sent */
const keys = (sent) => sent.map(({ request }) => new Headers(request.headers).get("idempotency-key"));

test("a lost write is sent again with the same key", async () => {
  const { memory, sent } = played([lost, () => json(201, { status: "applied", duplicate: true })]);
  await memory.remember({ body: { citizen_id: "ada", name: "Tea" } });
  const [first, second] = keys(sent);
  assert.ok(first);
  assert.equal(first, second);
});

test("each write has a key of its own, and one that was given stays", async () => {
  const { memory, sent } = played([() => json(201, {}), () => json(201, {}), () => json(201, {})]);
  const body = { citizen_id: "ada", name: "Tea" };
  await memory.remember({ body });
  await memory.remember({ body });
  await memory.remember({ body, header: { "idempotency-key": "mine" } });
  const found = keys(sent);
  assert.notEqual(found[0], found[1]);
  assert.equal(found[2], "mine");
});

test("what is applied by a field gets it", async () => {
  const { memory, sent } = played([lost, () => json(200, {})]);
  await memory.contest_memory({ body: /** @type {any} */ ({ citizen_id: "ada", id: "m", level: "N2" }) });
  const [first, second] = sent.map(({ request }) => JSON.parse(String(request.body)).command_id);
  assert.ok(first);
  assert.equal(first, second);
});

test("what has no receipt is not sent again when its answer is lost", async () => {
  const { memory, sent } = played([lost]);
  await assert.rejects(memory.create_key({ body: { name: "k", scopes: ["admin"] } }), Unreachable);
  assert.equal(sent.length, 1);
});

test("a question that gives feedback is not sent again, one without is", async () => {
  const body = { citizen_id: "ada", query_text: "tea" };
  const once = played([lost]);
  await assert.rejects(once.memory.retrieve({ body: { ...body, apply_feedback: true } }), Unreachable);
  const twice = played([lost, () => json(200, {})]);
  await twice.memory.retrieve({ body });
  assert.equal(twice.sent.length, 2);
});

test("a request that was turned away or never left is always sent again", async () => {
  const refused = () => Promise.reject(new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } }));
  const limited = () => json(429, {}, { "retry-after": "0" });
  const { memory, sent } = played([refused, limited, () => json(201, { key: "sk" })]);
  await memory.create_key({ body: { name: "k", scopes: ["admin"] } });
  assert.equal(sent.length, 3);
});

test("a problem is an error with its type, and a refusal is not repeated", async () => {
  const problem = { type: "/problems/conflict", title: "t", status: 409, detail: "d", instance: "/", remedy: "r" };
  const { memory } = played([() => json(409, { ...problem, current_version: 3 })]);
  await assert.rejects(memory.remember({ body: { citizen_id: "ada", name: "Tea" } }), (error) => {
    assert.ok(error instanceof SubstrateError);
    assert.equal(error.type, "/problems/conflict");
    assert.equal(error.problem.current_version, 3);
    assert.equal(error.remedy, "r");
    return true;
  });
});

test("a page of a proxy is an error too, and a long Retry-After throws at once", async () => {
  const page = () => new Response("<html>", { status: 503, headers: { "retry-after": "3600" } });
  const { memory, sent } = played([page]);
  await assert.rejects(memory.list_memories({ query: { citizen_id: "ada" } }), { status: 503, retryAfter: 3600 });
  assert.equal(sent.length, 1);
});

test("a path and a query are quoted, a list is a repeated name", async () => {
  const { memory, sent } = played([() => json(200, {}), () => json(200, {})]);
  await memory.get_state({ path: { citizen_id: "a/../b" } });
  await memory.list_changes({ query: { citizen_id: "ada", commands: ["correct", "erase"] } });
  assert.equal(sent[0]?.url, "http://service.test/v1/citizens/a%2F%2E%2E%2Fb/state");
  assert.match(String(sent[1]?.url), /commands=correct&commands=erase$/);
  await assert.rejects(memory.get_state({ path: { citizen_id: "" } }), /citizen_id is missing/);
});

test("who aborts gets the reason of the abort, and nothing is sent again", async () => {
  const { memory, sent } = played([lost]);
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(memory.get_liveness({}, { signal }), /enough/);
  assert.equal(sent.length, 0);
});

test("a stream of changes that is lost goes on where it was", async () => {
  /** @param {string[]} parts @param {boolean} [breaks] */
  const stream = (parts, breaks = false) => () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          const part = parts.shift();
          if (part !== undefined) controller.enqueue(new TextEncoder().encode(part));
          else if (breaks) controller.error(new TypeError("terminated"));
          else controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  const { memory, sent } = played([
    stream(["id: 1\r\nevent: change\r", '\ndata: {"a"', ":1}\r\n\r\n", "id: 2\n\n"], true),
    stream([": kept\n\nid: 3\nevent: erased\ndata: {}\n\n"]),
  ]);
  const seen = [];
  for await (const change of memory.watch({ citizen_id: "ada", after: "now" })) {
    seen.push(change);
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, [
    { event: "change", cursor: "1", data: { a: 1 } },
    { event: "erased", cursor: "3", data: {} },
  ]);
  const places = sent.map(({ url }) => new URL(url).searchParams.get("after"));
  assert.deepEqual(places, ["now", "2"]);
});
