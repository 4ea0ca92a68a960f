/** What must hold when all is quiet, one row each: a pure function over the API's objects, the storage's records and what users want. */
import { annotations, finalizers, provisioning } from "../../../src/api/names.ts";
import type {
  KubeObject,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../../../src/api/types.ts";
import type { Intention } from "./intentions.ts";
import type { End } from "./replica.ts";

export interface State {
  /** What the users want. */
  readonly wanted: readonly Intention[];
  /** Contents that stay without a snapshot, and their handles. */
  readonly retained: ReadonlyMap<string, string>;
  /** Handles that stay without a content. */
  readonly letGo: ReadonlySet<string>;
  readonly wantedClaims: ReadonlySet<string>;
  /** Those among them that the provisioner is to serve. */
  readonly provisioned: ReadonlySet<string>;
  /** What users tried for minutes without success. */
  readonly complaints: readonly string[];
  /** What the API has. */
  readonly snapshots: readonly VolumeSnapshot[];
  readonly contents: readonly VolumeSnapshotContent[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  /** Names of the CreateVolume calls that are stored. */
  readonly calls: readonly string[];
  /** What the driver has: names of volumes, by their ids. */
  readonly ledger: ReadonlyMap<string, string>;
  /** What the storage has: the names that were asked for, by handle. */
  readonly stored: ReadonlyMap<string, string>;
  readonly ends: readonly { readonly user: string; readonly end: End }[];
  /** Where the secret's value was seen. */
  readonly secretsSeen: readonly string[];
  /** Writes accepted from a replica after another one had taken over. */
  readonly overlaps: readonly string[];
  /** Writes after all was quiet. */
  readonly restless: readonly string[];
}

export interface Violation {
  readonly kind: string;
  readonly text: string;
}

interface Check {
  readonly kind: string;
  find(state: State): readonly string[];
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;
const handleOf = ({ spec, status }: VolumeSnapshotContent): string | undefined =>
  status?.snapshotHandle ?? spec.source.snapshotHandle;
const isWanted = ({ wanted }: State, { metadata }: VolumeSnapshot): boolean =>
  wanted.some(({ uid }) => uid === metadata.uid);

/** The contents that name this snapshot. */
const contentsOf = ({ contents }: State, { uid }: Intention): readonly VolumeSnapshotContent[] =>
  contents.filter(({ spec }) => spec.volumeSnapshotRef.uid === uid);

const sourceFinalizers: readonly string[] = [finalizers.snapshotRestoring, provisioning.claimCloningFinalizer];

export const checks: readonly Check[] = [
  {
    kind: "snapshot lost",
    find: ({ wanted, snapshots }) =>
      wanted
        .filter(({ uid }) => !snapshots.some(({ metadata }) => metadata.uid === uid))
        .map(({ name, uid }) => `VolumeSnapshot ${name} of uid ${uid} is wanted and not there`),
  },
  {
    kind: "snapshot not ready",
    find: (state) =>
      state.snapshots
        .filter((snapshot) => isWanted(state, snapshot) && snapshot.status?.readyToUse !== true)
        .map((snapshot) => `${nameOf(snapshot)} is not ready: ${snapshot.status?.error?.message ?? "no reason given"}`),
  },
  { kind: "not bound one to one", find: (state) => state.wanted.flatMap((request) => unbound(state, request)) },
  {
    kind: "snapshot nobody wants",
    find: (state) =>
      state.snapshots
        .filter((snapshot) => !isWanted(state, snapshot))
        .map((snapshot) => `${nameOf(snapshot)} was deleted and is still there`),
  },
  {
    kind: "content leaked",
    find: ({ wanted, retained, contents }) =>
      contents
        .filter(({ metadata, spec }) => {
          const isNamed = wanted.some(({ uid }) => uid === spec.volumeSnapshotRef.uid);
          return !isNamed && !retained.has(metadata.name);
        })
        .map((content) => `${nameOf(content)} belongs to no snapshot that is wanted, and was not to be retained`),
  },
  {
    kind: "content lost",
    find: ({ retained, contents }) =>
      [...retained.keys()]
        .filter((name) => !contents.some(({ metadata }) => metadata.name === name))
        .map((name) => `VolumeSnapshotContent ${name} was to be retained and is gone`),
  },
  {
    kind: "leaked in the storage",
    find: ({ stored, letGo, contents }) =>
      [...stored]
        .filter(([handle]) => !letGo.has(handle) && !contents.some((content) => handleOf(content) === handle))
        .map(([handle, name]) => `${handle} (${name}) is in the storage, and no content has it`),
  },
  {
    kind: "lost in the storage",
    find: ({ stored, letGo, contents }) =>
      [...letGo, ...contents.flatMap((content) => handleOf(content) ?? [])]
        .filter((handle) => !stored.has(handle))
        .map((handle) => `${handle} was to stay and is not in the storage`),
  },
  {
    kind: "shared in the storage",
    find: ({ contents, letGo }) => {
      const handles = [...letGo, ...contents.flatMap((content) => handleOf(content) ?? [])];
      const twice = handles.filter((handle, index) => handles.indexOf(handle) !== index);
      return twice.map((handle) => `${handle} has more than one owner`);
    },
  },
  {
    kind: "mixed up in the storage",
    find: ({ stored, contents }) =>
      contents
        .filter(({ spec }) => spec.source.volumeHandle !== undefined)
        .flatMap((content) => {
          const name = stored.get(handleOf(content) ?? "");
          const expected = `snapshot-${content.spec.volumeSnapshotRef.uid}`;
          return name === undefined || name === expected
            ? []
            : [`${nameOf(content)} has what was cut as ${name}, not as ${expected}`];
        }),
  },
  {
    kind: "stuck in deletion",
    find: ({ snapshots, contents, claims, volumes }) =>
      [...snapshots, ...contents, ...claims, ...volumes]
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map((object) => `${nameOf(object)} is held by ${object.metadata.finalizers?.join(", ") ?? "nothing"}`),
  },
  {
    kind: "mark left behind",
    find: ({ contents }) =>
      contents
        .filter(({ metadata }) => metadata.annotations?.[annotations.beingCreated] !== undefined)
        .map((content) => `${nameOf(content)} is marked as being created`),
  },
  {
    kind: "claim not let go",
    find: ({ claims }) =>
      claims
        .filter(({ metadata }) => metadata.finalizers?.includes(finalizers.claimAsSource))
        .map((claim) => `${nameOf(claim)} is protected, and nothing is being cut from it`),
  },
  {
    kind: "claim not gone, or lost",
    find: ({ claims, wantedClaims }) => {
      const there = new Set(claims.map(({ metadata }) => metadata.name));
      const differ = [...there.symmetricDifference(wantedClaims)];
      return differ.map((name) => `claim ${name} is ${there.has(name) ? "still there" : "gone"}`);
    },
  },
  {
    kind: "claim without a volume",
    find: ({ claims, provisioned }) =>
      claims
        .filter(({ metadata, status }) => provisioned.has(metadata.name) && status?.phase !== "Bound")
        .map((claim) => `${nameOf(claim)} is ${claim.status?.phase ?? "not bound"}`),
  },
  {
    kind: "volume leaked",
    find: ({ ledger, volumes }) =>
      [...ledger]
        .filter(([id]) => !volumes.some(({ spec }) => spec?.csi?.volumeHandle === id))
        .map(([id, name]) => `volume ${id} (${name}) is at the driver, and no PersistentVolume has it`),
  },
  {
    kind: "volume lost",
    find: ({ ledger, volumes }) =>
      volumes
        .filter(({ spec }) => spec?.csi !== undefined && !ledger.has(spec.csi.volumeHandle))
        .map((volume) => `${nameOf(volume)} has volume ${volume.spec?.csi?.volumeHandle}, which the driver has not`),
  },
  {
    kind: "call left behind",
    find: ({ calls }) => calls.map((name) => `the CreateVolume call of ${name} is still stored`),
  },
  {
    kind: "source not let go",
    find: ({ snapshots, claims }) =>
      [...snapshots, ...claims]
        .filter(({ metadata }) => metadata.finalizers?.some((name) => sourceFinalizers.includes(name)))
        .map((object) => `${nameOf(object)} is protected, and no volume is being made from it`),
  },
  {
    kind: "user in vain",
    find: ({ complaints }) => complaints,
  },
  {
    kind: "ended by itself",
    find: ({ ends }) =>
      ends.flatMap(({ user, end }) => (end.how === "by itself" ? [`${user}: ${end.lastOutput.trim()}`] : [])),
  },
  { kind: "secret seen", find: ({ secretsSeen }) => secretsSeen },
  { kind: "two leaders", find: ({ overlaps }) => overlaps },
  { kind: "not at rest", find: ({ restless }) => restless },
];

/** A ready snapshot and its one content point at each other, and the content has a handle and is ready. */
function unbound(state: State, wish: Intention): readonly string[] {
  const snapshot = state.snapshots.find(({ metadata }) => metadata.uid === wish.uid);
  const contents = contentsOf(state, wish);
  const bound = snapshot?.status?.boundVolumeSnapshotContentName;
  if (snapshot === undefined) return [];
  const names = contents.map(({ metadata }) => metadata.name);
  if (names.length !== 1 || names[0] !== bound)
    return [`${nameOf(snapshot)} is bound to ${bound ?? "nothing"}; named by ${names.join(", ") || "no content"}`];
  const [content] = contents;
  const isGood = content?.status?.readyToUse === true && content.status.snapshotHandle !== undefined;
  return isGood ? [] : [`${nameOf(snapshot)} is bound to ${bound}, which is not ready or has no handle`];
}

export const judge = (state: State): readonly Violation[] =>
  checks.flatMap(({ kind, find }) => find(state).map((text) => ({ kind, text })));
