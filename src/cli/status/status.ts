/** Reads a cluster, each kind once, and says how it is. */
import type { KindName } from "../../api/kinds.ts";
import type { Millis } from "../../base/brand.ts";
import type { Connection } from "../../runtime/connect.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import { explainedKinds } from "../explain/explain.ts";
import { liveReader } from "../explain/live-reader.ts";
import { runsInUp } from "../explain/running.ts";
import type { Health } from "../install/health-plan.ts";
import { componentsView, stoppedComponents } from "./components-view.ts";
import { driverNames, driversView } from "./drivers-view.ts";
import { healthOf } from "./health.ts";
import { createListedCopy, type ListedCopy } from "./listed-copy.ts";
import { objectsView, type Selection } from "./objects-view.ts";
import { definitionsView, webhooksView } from "./surroundings-view.ts";
import type { StatusView } from "./view.ts";

export interface StatusInput {
  readonly api: Connection["api"];
  readonly server: string;
  readonly version: string;
  readonly selection: Selection;
  readonly signal: AbortSignal;
  now(): Millis;
}

export async function readStatus({ api, server, version, selection, signal, now }: StatusInput): Promise<StatusView> {
  const { namespace } = selection;
  const copy = createListedCopy(liveReader(api), { namespace, kinds: ofUsers }, signal);
  for (const kind of askedFirst) copy.list(kind);
  await copy.readMissing();
  const view = await settledView({ copy, place: { server, namespace }, selection, now });
  return runsInUp(copy) ? view : withHealth(view, await healthOf({ api, copy, version, nowMs: now(), signal }));
}

/** Nearly every answer needs them, so all are read at once. Others are read when a decision asks for them. */
const askedFirst: readonly KindName[] = [
  ...explainedKinds,
  "VolumeSnapshotClass",
  "PersistentVolume",
  "StorageClass",
  "CSIDriver",
  "CSINode",
  "Lease",
  "Pod",
  "Event",
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
];

const ofUsers: ReadonlySet<KindName> = new Set(["VolumeSnapshot", "PersistentVolumeClaim"]);

interface Looking {
  readonly copy: ListedCopy;
  readonly place: Place;
  readonly selection: Selection;
  now(): Millis;
}

/** Each round reads what the one before has asked for. */
const roundsMax = 10;

export async function settledView({ copy, place, selection, now }: Looking): Promise<StatusView> {
  for (let round = 1; ; round++) {
    const view = viewOf(copy, place, selection, now());
    if (!(await copy.readMissing()) || round === roundsMax) return view;
  }
}

type Place = Pick<StatusView, "server" | "namespace">;

/** Pure, but for what the copy notes to be read. */
function viewOf(copy: ClusterCopy, place: Place, selection: Selection, nowMs: Millis): StatusView {
  const drivers = driverNames(copy);
  const components = componentsView(copy, drivers, nowMs);
  const { objects, waiting } = objectsView(copy, selection, drivers, nowMs);
  const problems = stoppedComponents(components, waiting);
  const needsPerson = waiting.filter(({ verdict }) => verdict === "stuck").length + problems.length;
  return {
    nowMs,
    ...place,
    verdict:
      needsPerson > 0 ? "stuck" : (worst.find((each) => waiting.some(({ verdict }) => verdict === each)) ?? "good"),
    needsPerson,
    components,
    webhooks: webhooksView(copy),
    definitions: definitionsView(copy),
    drivers: driversView(copy, components),
    objects,
    waiting,
    problems,
    notRead: notReadOf(copy),
  };
}

const worst = ["unknown", "waits"] as const;

const withHealth = (view: StatusView, { problems, notes }: Health): StatusView => ({
  ...view,
  verdict: problems.length > 0 ? "stuck" : view.verdict,
  needsPerson: view.needsPerson + problems.length,
  problems: [...view.problems, ...problems],
  notRead: [...view.notRead, ...notes],
});

/** Kinds that are only served where somebody wants them say nothing by their absence. */
const notReadOf = (copy: ClusterCopy): readonly string[] =>
  copy
    .gaps()
    .flatMap(({ want: { kind, name, namespace }, answer }) =>
      answer.kind === "unserved"
        ? kind === "VolumeSnapshot"
          ? ["the API server does not serve VolumeSnapshot: snapkeep install --apply installs its definition"]
          : []
        : [
            `may not ${name === undefined ? "list" : "get"} ${kind}${namespace === undefined ? " in all namespaces" : ` in namespace ${namespace}`}`,
          ],
    );
