import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, refusal, scripted } from "../../test/scripted-server.ts";
import { isFault } from "../base/fault.ts";
import { print } from "../base/json.ts";
import type { KubeApi, WatchEvent, WatchQuery } from "./api.ts";

const frame = (type: string, object: object): string => `${print({ type, object })}\n`;
async function* chunks(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}
type Event = WatchEvent<"ConfigMap">;
async function collect(
  { watch }: KubeApi,
  query: Partial<WatchQuery> = {},
): Promise<{ events: readonly Event[]; reason?: unknown }> {
  const events: Event[] = [];
  try {
    await watch("ConfigMap", { resourceVersion: "1", ...query }, (event) => void events.push(event));
    return { events };
  } catch (reason) {
    return { events, reason };
  }
}

test("a watch turns frames into events, ignores unknown types, and ends when the server ends it", async () => {
  const body = chunks(
    frame("ADDED", configMap("a", { managedFields: [{}] })) + frame("NEWTYPE", configMap("z")),
    frame("DELETED", configMap("a")),
    frame("BOOKMARK", { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: "99" } }),
  );
  const { client, asked } = scripted([{ status: 200, headers: {}, body }]);
  const { events, reason } = await collect(client, { namespace: "team", resourceVersion: "5", timeoutSeconds: 300 });
  assert.equal(reason, undefined);
  assert.deepEqual(events, [
    { kind: "put", object: configMap("a") },
    { kind: "gone", object: configMap("a") },
    { kind: "bookmark", resourceVersion: "99" },
  ]);
  assert.equal(
    asked[0]?.path,
    "/api/v1/namespaces/team/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300",
  );
});

const endings: readonly { given: string; body: AsyncIterable<string>; code: string }[] = [
  {
    given: "an ERROR event with 410",
    body: chunks(frame("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" })),
    code: "Expired",
  },
  {
    given: "an ERROR event with a code only",
    body: chunks(frame("ERROR", { kind: "Status", code: 410 })),
    code: "Expired",
  },
  { given: "an ERROR event without a code", body: chunks(frame("ERROR", { kind: "Status" })), code: "UnknownOutcome" },
  { given: "a truncated frame", body: chunks('{"type":"ADDED","obj'), code: "UnknownOutcome" },
  { given: "a frame that is no JSON", body: chunks("{{\n"), code: "UnknownOutcome" },
  { given: "a frame that is no event", body: chunks('{"kind":"ConfigMap"}\n'), code: "UnknownOutcome" },
  {
    given: "a cut connection",
    body: (async function* () {
      yield frame("ADDED", configMap("b"));
      throw new Error("cut");
    })(),
    code: "UnknownOutcome",
  },
];
for (const { given, body, code } of endings)
  test(`a watch that meets ${given} ends with ${code}`, async () => {
    const { client } = scripted([{ status: 200, headers: {}, body }]);
    const { reason } = await collect(client);
    assert.equal(isFault(reason) && reason.code, code);
  });

test("a watch that is rejected with 410 is Expired", async () => {
  const { client } = scripted([refusal(410, "Expired")]);
  const { reason } = await collect(client);
  assert.equal(isFault(reason, "Expired"), true);
});

test("a silent watch has no deadline of its own, and ends with the caller's signal", async () => {
  async function* silence(): AsyncGenerator<string> {
    await new Promise(() => undefined);
  }
  const { client, world, asked } = scripted([{ status: 200, headers: {}, body: silence() }]);
  const stop = new AbortController();
  const watching = collect(client, { signal: stop.signal });
  await world.advance(600_000);
  assert.equal(asked[0]?.signal?.aborted, false);
  stop.abort();
  assert.equal(isFault((await watching).reason, "Cancelled"), true);
  assert.equal(asked[0]?.signal?.aborted, true);
});

test("an exception of the event callback ends the watch and closes its connection", async () => {
  const body = chunks(frame("ADDED", configMap("a")), frame("ADDED", configMap("b")));
  const { client, asked } = scripted([{ status: 200, headers: {}, body }]);
  const enough = new Error("enough");
  let taken = 0;
  const watching = client.watch("ConfigMap", { resourceVersion: "1" }, () => {
    taken += 1;
    throw enough;
  });
  await assert.rejects(watching, (reason) => reason === enough);
  assert.equal(taken, 1);
  assert.equal(asked[0]?.signal?.aborted, true);
});
