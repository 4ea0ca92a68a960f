/**
 * Objects of a cluster, as far as they have been read. A decision that asks for something which has not been read gets nothing, and the
 * copy notes what was wanted; it is read, and the decision is made again. So exactly what decisions read is read, by name where they
 * know the name.
 */
import { type KindName, kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import { type KubeObject, keyOf, type ObjectOf } from "../../api/types.ts";
import { type Key, keyIn } from "../../base/brand.ts";

/** One object, or, without a name, all objects of a kind, in one namespace if one is given. */
export interface Want {
  readonly kind: KindName;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** Only lists: the server's own selection, for kinds of which a cluster may have many. */
  readonly fieldSelector?: string | undefined;
}

export type Answer =
  | { readonly kind: "objects"; readonly objects: readonly KubeObject[] }
  /** The caller may not read it, or the files do not have it. */
  | { readonly kind: "unreadable"; readonly why: string }
  /** The API server does not serve the kind. */
  | { readonly kind: "unserved" };

/** Why files have no answer: that they do not have an object does not say that the cluster has none. */
export const notInFiles = "not in the files";

export interface ClusterReader {
  read(want: Want, signal: AbortSignal): Promise<Answer>;
}

export interface Gap {
  readonly want: Want;
  readonly answer: Exclude<Answer, { readonly kind: "objects" }>;
}

export interface ClusterCopy {
  get<K extends KindName>(kind: K, namespace: string | undefined, name: string): ObjectOf<K> | undefined;
  list<K extends KindName>(kind: K, within?: Pick<Want, "namespace" | "fieldSelector">): readonly ObjectOf<K>[];
  /** Why the object cannot be known. Undefined: it has been read, or does not exist. */
  gapOf(ref: Ref): Gap | undefined;
  /** All that could not be read. */
  gaps(): readonly Gap[];
}

/** What a list gives before it has been read: it says nothing of the cluster, so nothing more should be asked because of it. */
export const unread: readonly never[] = [];

const idOf = ({ kind, namespace = "", name = "", fieldSelector = "" }: Want): string =>
  [kind, namespace, name, fieldSelector].join("\n");

/** Namespaces of cluster-scoped kinds are left out: a reference may name one by mistake. */
const wantOf = (kind: KindName, namespace: string | undefined, name: string): Want =>
  kindRows[kind].scope === "cluster" ? { kind, name } : { kind, namespace, name };

/** Rounds of reading: a chain of objects is much shorter. */
const roundsMax = 40;

/** Makes the decision again and again, until all that it asks for has been read. Several decisions may share what was read. */
export async function decideBy<T>(
  reader: ClusterReader,
  decide: (copy: ClusterCopy) => T,
  signal: AbortSignal,
  answers = new Map<string, Answer>(),
): Promise<T> {
  for (let round = 1; ; round++) {
    const wanted = new Map<string, Want>();
    const decision = decide(copyOf(answers, wanted));
    if (wanted.size === 0 || round === roundsMax) return decision;
    await Promise.all(
      [...wanted].map(async ([id, want]) => {
        answers.set(id, await reader.read(want, signal));
      }),
    );
  }
}

function copyOf(answers: ReadonlyMap<string, Answer>, wanted: Map<string, Want>): ClusterCopy {
  const gaps = new Map<string, Gap>();
  const answerTo = (want: Want): readonly KubeObject[] => {
    const id = idOf(want);
    const answer = answers.get(id);
    if (answer === undefined) wanted.set(id, want);
    else if (answer.kind !== "objects") gaps.set(id, { want, answer });
    if (answer === undefined) return unread;
    return answer.kind === "objects" ? answer.objects : [];
  };
  return {
    get: <K extends KindName>(kind: K, namespace: string | undefined, name: string) =>
      answerTo(wantOf(kind, namespace, name))[0] as ObjectOf<K> | undefined,
    list: <K extends KindName>(kind: K, within: Pick<Want, "namespace" | "fieldSelector"> = {}) =>
      answerTo({ kind, ...within }) as readonly ObjectOf<K>[],
    gapOf: ({ kind, namespace, name }) => gaps.get(idOf(wantOf(kind, namespace, name))),
    gaps: () => [...gaps.values()],
  };
}

/** Reads from objects at hand: a bundle, a dump, the cases of a test. */
export function readerOf(objects: readonly KubeObject[]): ClusterReader {
  const byKind = Map.groupBy(objects, ({ kind }) => kind);
  return {
    read: async ({ kind, namespace, name, fieldSelector }) => {
      const key: Key | undefined = name === undefined ? undefined : keyIn(namespace, name);
      const found = (byKind.get(kind) ?? []).filter(
        (object) =>
          (key === undefined || keyOf(object) === key) &&
          (namespace === undefined || object.metadata.namespace === namespace) &&
          (fieldSelector === undefined || isSelected(object, fieldSelector)),
      );
      return { kind: "objects", objects: found };
    },
  };
}

/** "metadata.name=a,involvedObject.uid=b": the only form that is used here. */
export const isSelected = (object: KubeObject, selector: string): boolean =>
  selector.split(",").every((term) => {
    const [path = "", value = ""] = term.split("=", 2);
    return fieldAt(object, path) === value;
  });

export const fieldAt = (object: KubeObject, path: string): unknown =>
  path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], object);
