// Remember, retrieve with emotions and wake, through the types of openapi-typescript.
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

const [url, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

function expect<T>(answer: { data?: T; error?: components["schemas"]["Problem"]; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(answer.error?.detail ?? `status ${answer.response.status}`);
  }
  return answer.data;
}

async function tour(): Promise<void> {
  const memory: components["schemas"]["Remember"] = {
    citizen_id: "ts",
    name: "The lighthouse was dark",
    goal: "Keep the light burning",
    resolution_state: "blocked",
    emotion_vector: { fear: 0.8, wonder: 0.4 },
  };
  const receipt = expect(await client.POST("/v1/memories", { body: memory }));
  const { id, level } = receipt as components["schemas"]["WriteReceipt"];
  if (id === null || level === null) throw new Error("the receipt names no memory");

  const path = { level, memory_id: id };
  const read = expect(
    await client.GET("/v1/memories/{level}/{memory_id}", { params: { path, query: { citizen_id: "ts" } } }),
  );
  if (read.emotion_vector?.fear !== 0.8) throw new Error("the emotions were lost");

  const question = { citizen_id: "ts", query_text: "the lighthouse", current_emotions: { fear: 0.9 } };
  const found = expect(await client.POST("/v1/retrieve", { body: question }));
  const woken = expect(
    await client.POST("/v1/wake", {
      body: { citizen_id: "ts", current_energy: 0.9, current_emotions: { fear: 0.9 } },
    }),
  );
  for (const stream of [found, woken]) {
    const ids = Object.values(stream.levels).flatMap((one) => [...one.vector_results, ...one.graph_results].map((node) => node.node_id));
    if (!ids.includes(id)) throw new Error(`the memory is not in the stream: ${ids}`);
  }
  const refused = await client.POST("/v1/retrieve", { body: { ...question, query_text: " " } });
  if (refused.error?.type !== "/problems/invalid-request") throw new Error("the problem has no type");
  console.log(`typescript: remembered ${id}, retrieved, woke, read a problem`);
}

tour().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
