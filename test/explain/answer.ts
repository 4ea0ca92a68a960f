/** What `explain` answers to a case, with the caller's rights and the kinds of the case. */
import type { KindName } from "../../src/api/kinds.ts";
import type { Ref } from "../../src/api/plan.ts";
import type { KubeObject } from "../../src/api/types.ts";
import { keyIn } from "../../src/base/brand.ts";
import { type Answer, type ClusterReader, decideBy, readerOf, type Want } from "../../src/cli/explain/cluster-copy.ts";
import { type Explanation, explain } from "../../src/cli/explain/explain.ts";
import { claimCases } from "./cases/claims.ts";
import { deletionCases } from "./cases/deletions.ts";
import { othersWords } from "./cases/others-words.ts";
import { shareCases } from "./cases/shares.ts";
import { snapshotCases } from "./cases/snapshots.ts";
import { type ClusterObject, clusterWith, now, type ObjectId } from "./cluster.ts";
import type { StuckCase } from "./stuck-case.ts";

/** Those that were written before `explain`. */
export const firstCases: readonly StuckCase[] = [...snapshotCases, ...deletionCases, ...claimCases, ...shareCases];
export const stuckCases: readonly StuckCase[] = [...firstCases, ...othersWords];

export const refOf = (id: ObjectId): Ref => {
  const [kind = "", key = ""] = id.split(" ");
  const [name = "", namespace] = key.split("/").reverse();
  return { kind: kind as KindName, namespace, name };
};
export const refText = ({ kind, namespace, name }: Ref): string => `${kind} ${keyIn(namespace, name)}`;

/** The caller may not read some kinds, and the API server does not serve others. */
function readerFor(
  { unreadable = [], unserved = [] }: StuckCase,
  objects: readonly ClusterObject[],
  asked: (kind: string, want: Want) => unknown,
): ClusterReader {
  const reader = readerOf(objects as unknown as readonly KubeObject[]);
  return {
    read: async (want, signal): Promise<Answer> => {
      asked(want.kind, want);
      if (unserved.includes(want.kind)) return { kind: "unserved" };
      return unreadable.includes(want.kind) ? { kind: "unreadable", why: "forbidden" } : reader.read(want, signal);
    },
  };
}

export const objectsOf = ({ objects, gone }: StuckCase): readonly ClusterObject[] => clusterWith(objects, gone);

export const answerTo = (
  each: StuckCase,
  objects: readonly ClusterObject[] = objectsOf(each),
  asked: (kind: string, want: Want) => unknown = () => undefined,
): Promise<Explanation | undefined> =>
  decideBy(
    readerFor(each, objects, asked),
    (copy) => explain(copy, refOf(each.explain), Date.parse(now)),
    new AbortController().signal,
  );

/** As the case expects it: the cause, where it lies, and who has to act. */
export const isRight = ({ cause, at, actor }: Explanation, expected: StuckCase): boolean =>
  cause === expected.cause && refText(at) === expected.at && actor === expected.actor;
