/** The short version of `npm run chaos`: every kind of fault at least once, under load, then quiet, then the verdict. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runChaos } from "./campaign.ts";
import { type ChaosOptions, parseOptions, usage } from "./options.ts";
import { isComplete, printed } from "./report.ts";

const short: ChaosOptions = {
  seed: 145,
  minutes: 4,
  quietMinutes: 2,
  users: 3,
  kills: 12,
  gaps: 2,
  disconnects: 40,
  delays: 3,
  lostReplies: 6,
  apiRestarts: 1,
  etcdRestarts: 1,
  handovers: 3,
  driverRestarts: 2,
  logs: "",
};
/** Most of it is waiting for leases to run out; a slow machine may take three times as long. */
const msMax = 600_000;

test("kills, disconnects, pauses and restarts under load leave nothing leaked, lost or stuck", {
  timeout: msMax,
}, async () => {
  const result = await runChaos(short, () => undefined);
  const page = printed(result);
  assert.deepEqual(result.violations, [], page);
  assert.ok(isComplete(result), page);
  assert.ok((result.load["snapshots created"] ?? 0) > 20, page);
  assert.ok((result.load["snapshots restored"] ?? 0) >= 1, page);
  assert.ok(result.ends.killed >= short.kills, page);
  assert.ok(result.ends["lost the lease"] >= 1, page);
});

test("invalid flag values are errors, and the help names every flag", () => {
  assert.deepEqual(parseOptions(["--kills", "-1"]).kind, "wrong");
  assert.deepEqual(parseOptions(["--kills", "many"]).kind, "wrong");
  assert.deepEqual(parseOptions(["--output", "xml"]).kind, "wrong");
  assert.deepEqual(parseOptions(["--unknown", "1"]).kind, "wrong");
  assert.deepEqual(parseOptions(["-h"]).kind, "help");
  const parsed = parseOptions(["--kills", "3", "--minutes", "0.5", "-o", "json"]);
  assert.ok(parsed.kind === "run" && parsed.options.kills === 3 && parsed.options.minutes === 0.5);
  assert.equal(parsed.output, "json");
  for (const flag of ["kills", "disconnects", "api-restarts", "etcd-restarts", "handovers", "seed", "minutes"])
    assert.match(usage, new RegExp(`--${flag} `));
});
