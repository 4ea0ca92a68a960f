/**
 * A copy of a cluster from whole lists: each kind is read once, whatever is asked of it afterwards. What an object of another namespace
 * says, when only one namespace is listed, is read by its name.
 */
import { type KindName, kindRows } from "../../api/kinds.ts";
import { type KubeObject, keyOf, type ObjectOf } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import {
  type Answer,
  type ClusterCopy,
  type ClusterReader,
  fieldAt,
  type Gap,
  isSelected,
  type Want,
} from "../explain/cluster-copy.ts";

/** Data of users, and all that has no end: nobody lists them for an overview. */
const unlisted: ReadonlySet<KindName> = new Set(["Secret", "ConfigMap"]);

/** Large objects, of which few are ours. */
const onlyByName: ReadonlySet<KindName> = new Set(["CustomResourceDefinition"]);

/** The only list of Events: without a warning nothing has to be said. */
const selectors: Partial<Readonly<Record<KindName, string>>> = { Event: "type=Warning" };

export interface ListScope {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** The kinds that are listed in this namespace only. */
  readonly kinds: ReadonlySet<KindName>;
}

interface Listed {
  readonly answer: Answer;
  readonly byKey: ReadonlyMap<string, KubeObject>;
  readonly byNamespace: ReadonlyMap<string, readonly KubeObject[]>;
  /** The objects of each value of a field, by its path; made when it is asked for. */
  readonly byField: Map<string, ReadonlyMap<unknown, readonly KubeObject[]>>;
}

export interface ListedCopy extends ClusterCopy {
  /** Reads what has been asked for and is not here yet. False: nothing was missing. */
  readMissing(): Promise<boolean>;
  /** Whether a kind has been read, and may be. */
  answerOf(kind: KindName): Answer | undefined;
}

export function createListedCopy(reader: ClusterReader, scope: ListScope, signal: AbortSignal): ListedCopy {
  const lists = new Map<KindName, Listed>();
  const named = new Map<string, Answer>();
  const missing = new Map<string, Want>();
  const asked = new Set<KindName>();

  const isOutside = (kind: KindName, namespace: string | undefined): boolean =>
    scope.namespace !== undefined && scope.kinds.has(kind) && namespace !== scope.namespace;
  const listOf = (kind: KindName): Listed | undefined => {
    asked.add(kind);
    const found = lists.get(kind);
    if (found === undefined)
      missing.set(kind, {
        kind,
        namespace: scope.kinds.has(kind) ? scope.namespace : undefined,
        fieldSelector: selectors[kind],
      });
    return found;
  };
  const byName = (want: Want & { readonly name: string }): KubeObject | undefined => {
    const id = `${want.kind} ${keyIn(want.namespace, want.name)}`;
    const answer = named.get(id);
    if (answer === undefined) missing.set(id, want);
    return answer?.kind === "objects" ? answer.objects[0] : undefined;
  };
  const gapOfKind = (kind: KindName): Gap | undefined => {
    const answer = lists.get(kind)?.answer;
    return answer === undefined || answer.kind === "objects" ? undefined : { want: { kind }, answer };
  };

  return {
    get: <K extends KindName>(kind: K, given: string | undefined, name: string) => {
      if (unlisted.has(kind)) return undefined;
      const namespace = kindRows[kind].scope === "cluster" ? undefined : given;
      const found =
        onlyByName.has(kind) || isOutside(kind, namespace)
          ? byName({ kind, namespace, name })
          : listOf(kind)?.byKey.get(keyIn(namespace, name));
      return found as ObjectOf<K> | undefined;
    },
    list: <K extends KindName>(
      kind: K,
      { namespace, fieldSelector }: Pick<Want, "namespace" | "fieldSelector"> = {},
    ) => {
      const listed = unlisted.has(kind) ? undefined : listOf(kind);
      return (listed === undefined ? [] : within(listed, namespace, fieldSelector)) as readonly ObjectOf<K>[];
    },
    gapOf: ({ kind, namespace, name }) => {
      const answer = named.get(`${kind} ${keyIn(namespace, name)}`);
      return answer !== undefined && answer.kind !== "objects"
        ? { want: { kind, namespace, name }, answer }
        : gapOfKind(kind);
    },
    gaps: () => [...asked].flatMap((kind) => gapOfKind(kind) ?? []),
    answerOf: (kind) => lists.get(kind)?.answer,
    readMissing: async () => {
      const wants = [...missing];
      missing.clear();
      await Promise.all(
        wants.map(async ([id, want]) => {
          const answer = await reader.read(want, signal);
          if (want.name === undefined) lists.set(want.kind, listedFrom(answer));
          else named.set(id, answer);
        }),
      );
      return wants.length > 0;
    },
  };
}

function listedFrom(answer: Answer): Listed {
  const objects = answer.kind === "objects" ? answer.objects : [];
  return {
    answer,
    byKey: new Map(objects.map((object) => [keyOf(object), object])),
    byNamespace: new Map(Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? "")),
    byField: new Map(),
  };
}

const none: readonly KubeObject[] = [];

function within(
  { answer, byNamespace, byField }: Listed,
  namespace: string | undefined,
  fieldSelector: string | undefined,
): readonly KubeObject[] {
  if (answer.kind !== "objects") return none;
  if (fieldSelector === undefined)
    return namespace === undefined ? answer.objects : (byNamespace.get(namespace) ?? none);
  // The last term is the name: few objects have the same.
  const [path = "", value = ""] = fieldSelector.slice(fieldSelector.lastIndexOf(",") + 1).split("=", 2);
  const index = byField.get(path) ?? Map.groupBy(answer.objects, (object) => fieldAt(object, path));
  byField.set(path, index);
  return (index.get(value) ?? none).filter(
    (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) && isSelected(object, fieldSelector),
  );
}
