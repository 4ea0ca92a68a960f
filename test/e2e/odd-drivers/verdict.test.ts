import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome, Row } from "./row.ts";
import { judged, printed } from "./verdict.ts";

const row: Row = { driver: "answers oddly", script: {} };
const good: Outcome = {
  ready: true,
  gone: true,
  left: [],
  claim: true,
  error: undefined,
  handle: "taken",
  ageMs: 1,
  size: "1",
  deletes: ["taken"],
  events: [],
  note: "",
};

const bad: Readonly<Record<string, Partial<Outcome>>> = {
  ready: { ready: false },
  gone: { gone: false },
  left: { left: ["taken"] },
  claim: { claim: false },
};
for (const [part, outcome] of Object.entries(bad)) {
  test(`our result is worse if ${part} is wrong only with our components`, () => {
    assert.deepEqual(judged(row, { ...good, ...outcome }, good).worse, [part]);
    assert.match(printed([judged(row, { ...good, ...outcome }, good)]), new RegExp(`WORSE in ${part}: a driver that`));
  });
  test(`our result is not worse if ${part} is wrong with both, or only with the Go components`, () => {
    assert.deepEqual(judged(row, { ...good, ...outcome }, { ...good, ...outcome }).worse, []);
    assert.deepEqual(judged(row, good, { ...good, ...outcome }).worse, []);
  });
}

test("ready is worse than not ready if the row requires not ready", () => {
  const missing: Row = { ...row, right: { ready: false } };
  assert.deepEqual(judged(missing, good, { ...good, ready: false }).worse, ["ready"]);
});

test("the report has the further expectations of a row and the messages of the program", () => {
  const shows = () => assert.fail("it was taken in 1970");
  const { ours, theirs } = judged({ ...row, shows }, good, { ...good, note: "3 crashes" });
  assert.deepEqual(ours, ["it was taken in 1970"]);
  assert.deepEqual(theirs, ["it was taken in 1970", "3 crashes"]);
});
