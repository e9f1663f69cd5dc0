// An afternoon with a service that runs; SUBSTRATE_BASE_URL and SUBSTRATE_API_KEY name it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Substrate, SubstrateError } from "substrate-client";

const skip = process.env.SUBSTRATE_BASE_URL ? false : "SUBSTRATE_BASE_URL names no service";
const citizen_id = `ts${Date.now().toString(36)}`;

test("an afternoon: remember, ask, follow, correct, list, be refused, export", { skip }, async () => {
  const memory = new Substrate();
  const body = { citizen_id, name: "Tea with Tom", description: "He takes it black.", emotion_vector: { joy: 0.8 } };
  const header = { "idempotency-key": crypto.randomUUID() };
  const receipt = /** @type {import("substrate-client").Schemas["WriteReceipt"]} */ (
    await memory.remember({ body, header })
  );
  assert.equal(receipt.status, "stored");
  const again = /** @type {typeof receipt} */ (await memory.remember({ body, header }));
  assert.equal(again.id, receipt.id);
  assert.equal(again.duplicate, true);

  const stream = await memory.retrieve({ body: { citizen_id, query_text: "tea", form: "references" } });
  assert.match(JSON.stringify(stream), /Tea with Tom/);

  const seen = [];
  for await (const change of memory.watch({ citizen_id })) {
    seen.push(change);
    if (seen.length === 1) await memory.remember({ body: { citizen_id, name: "Coffee with Ann", description: "Milk." } });
    else break;
  }
  assert.deepEqual(seen.map(({ event }) => event), ["change", "change"]);
  assert.equal(seen[0]?.event === "change" && seen[0].data.id, receipt.id);

  const names = [];
  for await (const page of memory.pages("list_memories", { query: { citizen_id, limit: 1 } })) {
    names.push(...page.memories.map((one) => one.name));
  }
  assert.deepEqual(names.sort(), ["Coffee with Ann", "Tea with Tom"]);

  const exported = await memory.export_citizen({ path: { citizen_id } });
  assert.match(await exported.text(), /Coffee with Ann/);

  await assert.rejects(memory.retrieve({ body: { citizen_id, query_text: " " } }), (error) => {
    assert.ok(error instanceof SubstrateError);
    assert.equal(error.type, "/problems/invalid-request");
    assert.equal(error.status, 422);
    assert.ok(error.faults.length > 0);
    return true;
  });
  await assert.rejects(new Substrate({ key: "sk-nobody" }).list_memories({ query: { citizen_id } }), {
    type: "/problems/unauthenticated",
  });
  assert.match(await memory.get_metrics(), /^# HELP/m);
});
