/** Fifty thousand hostile requests on one server: valid responses, no crash, no memory growth. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { startApiServer, type TestServer } from "../api-server.ts";
import { complaintAbout } from "../fuzz/judge.ts";
import { diceFrom, hostileRequest } from "../fuzz/requests.ts";

const requests = 50_000;
/** What may remain after everything stored was deleted: caches of answers and schemas, one history per kind. */
const growthBytesMax = 64 * 2 ** 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

async function ask(server: TestServer, from: number, to: number): Promise<readonly string[]> {
  const complaints: string[] = [];
  for (let seed = from; seed < to; seed += 1) {
    const request = hostileRequest(diceFrom(seed));
    const complaint = await complaintAbout(server.handler, request);
    if (complaint !== undefined)
      complaints.push(`seed ${seed}: ${request.method} ${request.path.slice(0, 150)}: ${complaint}`);
  }
  return complaints;
}

test(`${requests} hostile requests are answered, and leave no more than ${growthBytesMax} bytes behind`, async () => {
  const server = startApiServer({ definitions: snapshotCrds(3) });
  const warm = 5_000;
  assert.deepEqual(await ask(server, 1, warm), []);
  const before = heapBytes();
  assert.deepEqual(await ask(server, warm, requests), []);
  const growth = heapBytes() - before;
  assert.ok(growth < growthBytesMax, `the heap grew by ${growth} bytes`);
  assert.equal(server.watches(), 0);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});
