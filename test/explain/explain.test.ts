/** `explain` on the cases: the right first cause, the object on which it lies, who has to act, and what to type. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KindName } from "../../src/api/kinds.ts";
import type { Ref } from "../../src/api/plan.ts";
import type { KubeObject } from "../../src/api/types.ts";
import { keyIn } from "../../src/base/brand.ts";
import { type Answer, type ClusterReader, decideBy, readerOf } from "../../src/cli/explain/cluster-copy.ts";
import { explain } from "../../src/cli/explain/explain.ts";
import { claimCases } from "./cases/claims.ts";
import { deletionCases } from "./cases/deletions.ts";
import { shareCases } from "./cases/shares.ts";
import { snapshotCases } from "./cases/snapshots.ts";
import { clusterWith, now, type ObjectId } from "./cluster.ts";
import { alwaysHarmful, type StuckCase } from "./stuck-case.ts";

const refOf = (id: ObjectId): Ref => {
  const [kind = "", key = ""] = id.split(" ");
  const [name = "", namespace] = key.split("/").reverse();
  return { kind: kind as KindName, namespace, name };
};
const idOf = ({ kind, namespace, name }: Ref): string => `${kind} ${keyIn(namespace, name)}`;

/** The caller may not read some kinds, and the API server does not serve others. */
function readerFor({ objects, gone, unreadable = [], unserved = [] }: StuckCase): ClusterReader {
  const reader = readerOf(clusterWith(objects, gone) as unknown as readonly KubeObject[]);
  return {
    read: async (want, signal): Promise<Answer> => {
      if (unserved.includes(want.kind)) return { kind: "unserved" };
      return unreadable.includes(want.kind) ? { kind: "unreadable", why: "forbidden" } : reader.read(want, signal);
    },
  };
}

for (const each of [...snapshotCases, ...deletionCases, ...claimCases, ...shareCases])
  test(`given ${each.given}, the cause is ${each.cause}`, async () => {
    const ref = refOf(each.explain);
    const found = await decideBy(
      readerFor(each),
      (copy) => explain(copy, ref, Date.parse(now)),
      new AbortController().signal,
    );
    assert.ok(found !== undefined, "the object is found");
    const advice = found.next.map(({ says, command = "" }) => `${says}\n${command}`).join("\n");
    const { cause, actor } = found;
    assert.deepEqual(
      { cause, at: idOf(found.at), actor },
      { cause: each.cause, at: each.at, actor: each.actor },
      found.says,
    );
    assert.match(advice, each.next);
    assert.doesNotMatch(advice, alwaysHarmful);
    if (each.never !== undefined) assert.doesNotMatch(advice, each.never);
  });
