/** `explain` on the cases: the right first cause, the object on which it lies, who has to act, and what to type. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Want } from "../../src/cli/explain/cluster-copy.ts";
import { answerTo, firstCases, isRight, objectsOf, refText, stuckCases } from "./answer.ts";
import { harmIn } from "./harm.ts";
import type { StuckCase } from "./stuck-case.ts";

for (const each of stuckCases)
  test(`given ${each.given}, the cause is ${each.cause}`, async () => {
    const found = await answerTo(each);
    assert.ok(found !== undefined, "the object is found");
    const advice = found.next.map(({ says, command = "" }) => `${says}\n${command}`).join("\n");
    const { cause, actor } = found;
    assert.deepEqual(
      { cause, at: refText(found.at), actor },
      { cause: each.cause, at: each.at, actor: each.actor },
      found.says,
    );
    assert.match(advice, each.next);
    if (each.never !== undefined) assert.doesNotMatch(advice, each.never);
  });

test("the first cause is right in at least 57 of 60 cases, and no advice harms in any", async () => {
  for (const cases of [firstCases, stuckCases]) await assertScore(cases);
});

async function assertScore(cases: readonly StuckCase[]): Promise<void> {
  const answers = await Promise.all(cases.map(async (each) => ({ each, found: await answerTo(each) })));
  const right = answers.filter(({ each, found }) => found !== undefined && isRight(found, each));
  const harms = answers.flatMap(({ each, found }) =>
    harmIn(found?.next ?? [], objectsOf(each)).map((harm) => `${each.given}: ${harm}`),
  );
  assert.ok(right.length / answers.length >= 57 / 60, `${right.length} of ${answers.length} are right`);
  assert.deepEqual(harms, []);
}

test("pods of all namespaces are listed only where a component has no lease", async () => {
  for (const each of stuckCases) {
    const lists: Want[] = [];
    await answerTo(each, objectsOf(each), (kind, want) => {
      if (kind === "Pod" && want.name === undefined && want.namespace === undefined) lists.push(want);
    });
    const found = await answerTo(each);
    const hasLease = found?.running.every(({ lease }) => lease !== undefined) ?? true;
    if (hasLease) assert.deepEqual(lists, [], each.given);
  }
});

const going = { deletionTimestamp: "2026-03-01T11:00:00Z" };
const taken = { status: { snapshotHandle: "snap-77" }, spec: { volumeSnapshotRef: { name: "monday" } } };
const content = (metadata: Record<string, string> = {}) => ({
  kind: "VolumeSnapshotContent",
  metadata: { name: "c", ...metadata },
  ...taken,
});
const snapshot = { kind: "VolumeSnapshot", metadata: { namespace: "team", name: "monday" } };
const retain = `kubectl patch volumesnapshotcontent c --type=merge -p '{"spec":{"deletionPolicy":"Retain"}}'`;

/** Advice, and whether it would harm in a cluster with the snapshot and this content. */
const judged: Readonly<Record<string, readonly [says: string, command: string, content: object, harms: boolean]>> = {
  "a finalizer is taken off": ["x", `kubectl patch vs monday -p '{"metadata":{"finalizers":null}}'`, content(), true],
  "a deletion by force": ["x", "kubectl delete pod a --force", content(), true],
  "a content is deleted": ["x", "kubectl delete volumesnapshotcontent c", content(), true],
  "definitions are deleted": ["x", "kubectl delete customresourcedefinition volumesnapshots.s", content(), true],
  "a snapshot with data is deleted": ["x", "kubectl delete volumesnapshot monday -n team", content(), true],
  "a snapshot is deleted whose content goes": [
    "x",
    "kubectl delete volumesnapshot monday -n team",
    content(going),
    false,
  ],
  "a content is retained, and its handle is named": ["snapshot snap-77 stays", retain, content(going), false],
  "a content is retained, and nobody knows its handle": ["it stays", retain, content(going), true],
  "a log is read": ["read it", "kubectl logs a -n b", content(), false],
};
for (const [given, [says, command, object, harms]] of Object.entries(judged))
  test(`given advice by which ${given}, it ${harms ? "harms" : "does not harm"}`, () => {
    const found = harmIn([{ says, command }], [snapshot, object] as never);
    assert.equal(found.length > 0, harms, found.join("; "));
  });
