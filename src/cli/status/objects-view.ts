/** Every object of the snapshot stack: its phase, and what it waits for. Pure. */
import { finalizers, provisioning } from "../../api/names.ts";
import type { KubeObject, PersistentVolumeClaim } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import { type Explanation, explain, explainedKinds } from "../explain/explain.ts";
import type { PhasesView, WaitingView } from "./view.ts";

export interface Selection {
  /** Undefined: all. */
  readonly namespace: string | undefined;
  /** Whether an object with these labels is meant. */
  isSelected(labels: Readonly<Record<string, string>> | undefined): boolean;
}

export interface ObjectsView {
  readonly objects: readonly PhasesView[];
  readonly waiting: readonly WaitingView[];
}

export function objectsView(
  copy: ClusterCopy,
  selection: Selection,
  drivers: ReadonlySet<string>,
  nowMs: Millis,
): ObjectsView {
  const objects: PhasesView[] = [];
  const waiting: Explanation[] = [];
  for (const kind of explainedKinds) {
    const phases: Record<string, number> = {};
    const found = copy.list(kind).filter((object) => isMeant(copy, object, selection, drivers));
    for (const object of found) {
      const { metadata } = object;
      const explained = explain(copy, { kind, namespace: metadata.namespace, name: metadata.name }, nowMs);
      if (explained === undefined) continue;
      const phase = phaseOf(object) ?? explained.chain[0]?.phase ?? "unknown";
      phases[phase] = (phases[phase] ?? 0) + 1;
      if (explained.verdict !== "good") waiting.push(explained);
    }
    if (found.length > 0) objects.push({ kind, count: found.length, phases });
  }
  return { objects, waiting: groupsOf(waiting) };
}

/** Everybody knows a claim's phase from its status. */
const phaseOf = (object: KubeObject): string | undefined =>
  object.kind === "PersistentVolumeClaim" ? (object as PersistentVolumeClaim).status?.phase : undefined;

function isMeant(copy: ClusterCopy, object: KubeObject, selection: Selection, drivers: ReadonlySet<string>): boolean {
  return (
    selection.isSelected(object.metadata.labels) &&
    isIn(object, selection.namespace) &&
    (object.kind !== "PersistentVolumeClaim" || isOurs(copy, object as PersistentVolumeClaim, drivers))
  );
}

/** A content is of the namespace of its snapshot. */
function isIn(
  { kind, metadata, spec }: KubeObject & { readonly spec?: unknown },
  namespace: string | undefined,
): boolean {
  const at =
    kind === "VolumeSnapshotContent"
      ? (spec as { readonly volumeSnapshotRef?: { readonly namespace?: string } }).volumeSnapshotRef?.namespace
      : metadata.namespace;
  return namespace === undefined || at === namespace;
}

/** A cluster has claims that no CSI driver has to do with. */
function isOurs(copy: ClusterCopy, { metadata, spec }: PersistentVolumeClaim, drivers: ReadonlySet<string>): boolean {
  const { annotations = {}, finalizers: held = [] } = metadata;
  const provisioner =
    annotations[provisioning.storageProvisioner] ??
    (spec?.storageClassName ? copy.get("StorageClass", undefined, spec.storageClassName)?.provisioner : undefined);
  return (
    held.includes(finalizers.claimAsSource) ||
    spec?.dataSourceRef !== undefined ||
    (provisioner !== undefined && drivers.has(provisioner))
  );
}

/** Those that need somebody first, then the oldest. */
function groupsOf(waiting: readonly Explanation[]): readonly WaitingView[] {
  const byReason = Map.groupBy(waiting, (found) => [whyOf(found).code, verdictOf(found), shared(found)].join("\n"));
  return [...byReason.values()].flatMap(viewOf).toSorted(byUrgency);
}

/** One process that does not run, or one webhook, is one reason, whatever waits for it. */
const shared = ({ cause, says }: Explanation): string =>
  cause === "ComponentDown" || cause === "WebhookDown" || cause === "KnownDefect" ? says : "";

/** A claim without a pod, of a class that binds when a pod is scheduled, is as it should be: nobody has to do anything about it. */
function verdictOf({ cause, actor, verdict, at, chain }: Explanation): WaitingView["verdict"] {
  const isUnused = cause === "WaitsForNode" && actor === "user" && chain.length === 1 && at === chain[0]?.object;
  return verdict === "good" || isUnused ? "waits" : verdict;
}

function viewOf(group: readonly Explanation[]): readonly WaitingView[] {
  const [oldest, ...others] = group.toSorted((a, b) => ageOf(a) - ageOf(b));
  if (oldest === undefined) return [];
  const { cause, actor, next } = oldest;
  const objects = [oldest, ...others].map(({ object, sinceMs }) => ({ object, sinceMs }));
  return [
    {
      verdict: verdictOf(oldest),
      actor,
      count: group.length,
      objects,
      ...whyOf(oldest),
      next: stepOf(next, cause),
    },
  ];
}

/** What is young waits for what its plan says; "nothing is wrong" says nothing about it. */
function whyOf({ cause, says, chain }: Explanation): Pick<WaitingView, "code" | "says"> {
  const last = chain.at(-1);
  return cause === "NothingWrong" && last !== undefined ? { code: last.cause, says: last.says } : { code: cause, says };
}

const stepOf = (next: Explanation["next"], cause: WaitingView["code"]): WaitingView["next"] =>
  cause === "NothingWrong" ? undefined : (next.find(({ command }) => command !== undefined) ?? next[0]);

const ageOf = ({ sinceMs }: Explanation): Millis => sinceMs ?? Number.POSITIVE_INFINITY;
const oldestOf = ({ objects }: WaitingView): Millis => objects[0]?.sinceMs ?? Number.POSITIVE_INFINITY;
const byUrgency = (a: WaitingView, b: WaitingView): number =>
  Number(b.verdict === "stuck") - Number(a.verdict === "stuck") || oldestOf(a) - oldestOf(b);
