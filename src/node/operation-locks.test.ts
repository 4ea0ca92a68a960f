import assert from "node:assert/strict";
import { test } from "node:test";
import { createOperationLocks, type WantedLocks } from "./operation-locks.ts";

const cases: readonly { given: WantedLocks; next: WantedLocks; allowed: boolean }[] = [
  { given: { changes: "volume v" }, next: { changes: "volume v" }, allowed: false },
  { given: { changes: "volume v" }, next: { changes: "volume w" }, allowed: true },
  { given: { changes: "volume v" }, next: { changes: "volume w", reads: "volume v" }, allowed: false },
  { given: { changes: "snapshot s", reads: "volume v" }, next: { changes: "volume v" }, allowed: false },
  {
    given: { changes: "snapshot s", reads: "volume v" },
    next: { changes: "snapshot t", reads: "volume v" },
    allowed: true,
  },
  { given: { changes: "snapshot s", reads: "volume v" }, next: { changes: "snapshot s" }, allowed: false },
];
const worded = ({ changes, reads }: WantedLocks): string => `${changes}${reads === undefined ? "" : ` from ${reads}`}`;

for (const { given, next, allowed } of cases)
  test(`during ${worded(given)}, ${worded(next)} ${allowed ? "is allowed" : "gets Aborted"}`, async () => {
    const holds = createOperationLocks();
    const work = Promise.withResolvers<void>();
    const first = holds.during(given, () => work.promise);
    const second = holds.during(next, async () => "done");
    if (allowed) assert.equal(await second, "done");
    else await assert.rejects(second, { code: "Aborted" });
    work.resolve();
    await first;
    assert.equal(await holds.during(next, async () => "done"), "done", "afterwards it is free again");
  });

test("a failed operation releases its locks", async () => {
  const holds = createOperationLocks();
  await assert.rejects(
    holds.during({ changes: "a", reads: "b" }, () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal(await holds.during({ changes: "b", reads: "a" }, async () => "done"), "done");
});

test("a source with two readers is unlocked after the second", async () => {
  const holds = createOperationLocks();
  const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = holds.during({ changes: "a", reads: "source" }, () => one.promise);
  const second = holds.during({ changes: "b", reads: "source" }, () => two.promise);
  one.resolve();
  await first;
  await assert.rejects(
    holds.during({ changes: "source" }, async () => undefined),
    { code: "Aborted" },
  );
  two.resolve();
  await second;
  await holds.during({ changes: "source" }, async () => undefined);
});

test("settled waits for all running operations, successful or not", async () => {
  const holds = createOperationLocks();
  const work = Promise.withResolvers<void>();
  const failing = holds.during({ changes: "a" }, () => work.promise);
  let settled = false;
  const waiting = holds.settled().then(() => {
    settled = true;
  });
  await Promise.resolve();
  assert.equal(settled, false);
  work.reject(new Error("broken"));
  await assert.rejects(failing);
  await waiting;
});
