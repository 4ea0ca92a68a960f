/** A prediction equals what then happens: the same objects, with the same contents, and the same calls. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import type { Compared } from "../../../test/what-if/compare.ts";

const scenarios = 300;
const worker = new URL("../../../test/what-if/worker.ts", import.meta.url);

test(`in ${scenarios} generated scenarios a prediction equals what then happens`, async () => {
  const child = fork(worker, ["1", String(scenarios)], { execArgv: [...process.execArgv, "--max-semi-space-size=32"] });
  const found: Compared[] = [];
  child.on("message", (message) => found.push(message as Compared));
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.equal(found.length, scenarios);
  for (const { seed, change, told, real } of found) {
    const about = `seed ${seed}: ${JSON.stringify(change)}`;
    assert.deepEqual(told.calls, real.calls, about);
    assert.deepEqual(told.keys, real.keys, about);
    assert.deepEqual(told.objects, real.objects, about);
    assert.equal(told.refused, real.refused, about);
  }
  // They say something: of each sort of call there are many, and some changes are refused.
  const sent = found.flatMap(({ told }) => told.calls).join("\n");
  for (const method of ["CreateSnapshot", "DeleteSnapshot", "CreateVolume", "DeleteVolume"])
    assert.ok(sent.split(`"${method}"`).length > 5, `${method} ${sent.split(`"${method}"`).length}`);
});
