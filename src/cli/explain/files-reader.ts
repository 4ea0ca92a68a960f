/**
 * A cluster as files show it: a bundle of `gather`, or what kubectl has printed. Files have a part of the cluster: what is not in them is
 * only missing where they have the list in which it would stand.
 */
import { basename, dirname } from "node:path";
import { kindRows } from "../../api/kinds.ts";
import type { KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { millisOf } from "../../base/time.ts";
import { entriesAt, memberAt } from "../../rules/pod-specs.ts";
import { allPods } from "../gather/tables.ts";
import type { ReadDocument } from "../lint/manifests.ts";
import { type Answer, type ClusterReader, notInFiles, readerOf, type Want } from "./cluster-copy.ts";

export interface ClusterInFiles {
  readonly reader: ClusterReader;
  /** When the files were made, by the newest date in them; undefined: they have none. */
  readonly madeMs: Millis | undefined;
  readonly objects: readonly KubeObject[];
}

/** A list that the files have whole. */
interface Listed {
  readonly kind: string;
  /** Undefined: of the whole cluster. */
  readonly namespace: string | undefined;
}

/** What a bundle says beside its objects. */
export interface BundleNotes {
  /** Kinds that the API server does not serve. */
  readonly notServed: ReadonlySet<string>;
  /** Components were looked for in all pods, so that those of a component are all there. */
  readonly hasComponents: boolean;
}

export function clusterInFiles(documents: readonly ReadDocument[], notes: BundleNotes): ClusterInFiles {
  const objects: KubeObject[] = [];
  const lists: Listed[] = [];
  for (const { file, value } of documents) {
    const whole = plain(value);
    if (!isObject(whole)) continue;
    const found = objectsIn(whole);
    objects.push(...(found as unknown as readonly KubeObject[]));
    if (Array.isArray(whole.items)) lists.push(...listsIn(file, whole, found));
  }
  return { reader: partReader(objects, lists, notes), madeMs: newestIn(objects), objects };
}

/** Small integers are numbers, as everywhere else. */
function plain(value: unknown): JsonValue {
  if (typeof value === "bigint") return value >= -smallMax && value <= smallMax ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return (value ?? null) as JsonValue;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
const smallMax = BigInt(Number.MAX_SAFE_INTEGER);

/** The entries of a list of one kind do not say it. */
function objectsIn(whole: JsonObject): readonly JsonObject[] {
  const kind = String(whole.kind ?? "");
  const items = entriesAt(whole, ["items"]).filter(isObject);
  if (!Array.isArray(whole.items)) return isObject(whole.metadata) ? [whole] : [];
  return items.map((item) => ({ ...item, kind: item.kind ?? kind.replace(/List$/, "") }));
}

/** A bundle names the namespace of a list by its folder. kubectl does not say of which namespace its list is: its objects do. */
function listsIn(file: string, whole: JsonObject, objects: readonly JsonObject[]): readonly Listed[] {
  const kind = String(whole.kind ?? "").replace(/List$/, "");
  const folder = dirname(file);
  if (kind !== "" && basename(folder) === "objects") return [{ kind, namespace: undefined }];
  if (kind !== "" && basename(dirname(folder)) === "namespaces") return [{ kind, namespace: basename(folder) }];
  const byKind = Map.groupBy(objects, (object) => String(object.kind));
  return [...byKind].flatMap(([each, members]) => {
    const namespaces = new Set(members.map((member) => memberAt(member, ["metadata", "namespace"])));
    // Objects of several namespaces: somebody has listed all of them.
    if (namespaces.size > 1) return [{ kind: each, namespace: undefined }];
    const [namespace] = namespaces;
    return [{ kind: each, namespace: typeof namespace === "string" ? namespace : undefined }];
  });
}

function partReader(
  objects: readonly KubeObject[],
  lists: readonly Listed[],
  { notServed, hasComponents }: BundleNotes,
): ClusterReader {
  const reader = readerOf(objects);
  const isWhole = ({ kind, namespace, name }: Want): boolean =>
    (hasComponents && kind === "Pod" && namespace === undefined && name === undefined) ||
    lists.some((list) => list.kind === kind && (list.namespace === undefined || list.namespace === namespace));
  return {
    read: async (want, signal): Promise<Answer> => {
      if (notServed.has(want.kind)) return { kind: "unserved" };
      const found = await reader.read(want, signal);
      const isAnswer =
        (found.kind === "objects" && want.name !== undefined && found.objects.length > 0) || isWhole(want);
      return isAnswer ? found : { kind: "unreadable", why: notInFiles };
    },
  };
}

/** Fields that say when something was; others have dates of the future. */
const pastFields: ReadonlySet<string> = new Set([
  "creationTimestamp",
  "renewTime",
  "acquireTime",
  "lastTimestamp",
  "firstTimestamp",
  "eventTime",
  "lastTransitionTime",
  "lastHeartbeatTime",
  "startedAt",
  "time",
]);

function newestIn(value: unknown, field = ""): Millis | undefined {
  if (typeof value === "string") return pastFields.has(field) ? millisOf(value) : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  let newest: Millis | undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = newestIn(member, Array.isArray(value) ? field : name);
    if (found !== undefined && (newest === undefined || found > newest)) newest = found;
  }
  return newest;
}

/** Reads the notes of a bundle; `textOf` gives the text of a file in its folder, undefined where there is none. */
export async function bundleNotes(textOf: (file: string) => Promise<string | undefined>): Promise<BundleNotes> {
  const [version, notServed = "", problems = ""] = await Promise.all(
    ["version.txt", "not-served.txt", "problems.txt"].map(textOf),
  );
  return {
    notServed: new Set(notServed.split("\n").filter((line) => Object.hasOwn(kindRows, line))),
    hasComponents: version !== undefined && !problems.includes(`${allPods.file}: `),
  };
}
