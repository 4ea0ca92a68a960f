/** A cluster that has lived: objects that users have created and deleted, and what the components have made of them. And a change to it. */
import { draftOf } from "../../src/api/builders.ts";
import { parameters } from "../../src/api/names.ts";
import type { Draft, KubeObject } from "../../src/api/types.ts";
import type { Handler } from "../../src/base/http.ts";
import { createCopy, driversOf } from "../../src/cli/what-if/copy.ts";
import type { DriverCall } from "../../src/cli/what-if/driver.ts";
import { apply, type Change, copiedKinds } from "../../src/cli/what-if/predict.ts";
import { unaryOf } from "../../src/csi/serve.ts";
import type { Unary } from "../../src/csi/wire.ts";
import { createVirtualWorld, diceFrom, type VirtualWorld } from "../../src/runtime/virtual-world.ts";
import { createBackend, driver } from "../sim/backend.ts";
import {
  aBoundClaim,
  aClass,
  aContent,
  aGrant,
  aRestoringClaim,
  aSnapshot,
  aSnapshotOfContent,
} from "../sim/fixtures.ts";
import { aStorageClass } from "../sim/fixtures-volumes.ts";
import { sourceIn } from "../sim/volumes.ts";

export interface LivedCluster {
  readonly world: VirtualWorld;
  /** As a user reads them. */
  objects(): readonly KubeObject[];
  apply(change: Change): Promise<string | undefined>;
  rest(): Promise<boolean>;
  /** Calls since it was asked last. */
  calls(): readonly DriverCall[];
  stop(): Promise<void>;
}

/** The handle of a snapshot that was taken elsewhere. */
const given = "handle-given";

type Dice = () => number;
const oneOf = <T>(dice: Dice, values: readonly T[]): T => values[Math.floor(dice() * values.length)] as T;
/** Long enough for what follows from one step. */
const shortMs = 3_000;
const spaces = ["default", "guest"] as const;

/** Requests take a while, a different one each time, as they do in a cluster. */
const slowed =
  (world: VirtualWorld, dice: Dice) =>
  (handler: Handler): Handler =>
  async (request) => {
    await world.sleep(Math.floor(dice() * 6));
    return handler(request);
  };

export async function livedCluster(seed: number): Promise<LivedCluster> {
  const world = createVirtualWorld(seed);
  const dice = diceFrom(seed * 31 + 7);
  const backend = createBackend(world);
  if (dice() < 0.5)
    backend.snapshots.set(given, { id: given, name: given, volumeId: "vol-data", takenAtMs: 0, readyAtMs: 0 });
  let calls: DriverCall[] = [];
  const plain = unaryOf(backend.services);
  const noting: Unary = (call, signal) => {
    if (/^(Create|Delete)/.test(call.method.name)) calls.push(callOf(call));
    return plain(call, signal);
  };
  const objects = furniture(dice);
  const copy = createCopy({ world, objects, around: slowed(world, dice) });
  await copy.start(new Map([...driversOf(objects)].map((name) => [name, noting])));
  for (const step of lifeOf(dice)) {
    await world.run(apply(copy.client, step).catch(() => undefined));
    // Some steps meet others that are under way.
    if (dice() < 0.7) await copy.rest(shortMs);
  }
  await copy.rest();
  calls = [];
  return {
    world,
    objects: () => copiedKinds.flatMap((kind) => copy.objects(kind)),
    apply: (change) =>
      world.run(
        apply(copy.client, change).then(
          () => undefined,
          (reason: Error) => reason.message,
        ),
      ),
    rest: copy.rest,
    calls: () => calls,
    stop: async () => {
      copy.stop();
      await world.advance(0);
    },
  };
}

function callOf({ method, request }: Parameters<Unary>[0]): DriverCall {
  const { name = "", snapshotId = "", volumeId = "", sourceVolumeId = "" } = request as Partial<Record<string, string>>;
  const source = sourceVolumeId || sourceIn(request as never) || undefined;
  return {
    driver,
    method: method.name as DriverCall["method"],
    subject: name || snapshotId || volumeId,
    ...(method.name.startsWith("Create") ? { source } : {}),
  };
}

const secretOfClass = {
  [parameters.snapshotterSecretName]: "login",
  [parameters.snapshotterSecretNamespace]: "default",
};

function furniture(dice: Dice): readonly KubeObject[] {
  const plain = [
    aClass("delete"),
    aClass("retain", { policy: "Retain" }),
    { ...aClass("secret"), parameters: secretOfClass },
    aStorageClass("disk", { policy: oneOf(dice, ["Delete", "Delete", "Retain"]) }),
    ...aBoundClaim("data", { uid: "uid-data" }),
    ...aBoundClaim("other", { uid: "uid-other" }),
    ...aBoundClaim("theirs", { namespace: "guest", uid: "uid-theirs" }),
  ];
  return plain.map(
    (object, index) =>
      ({
        ...object,
        metadata: { uid: `uid-${index}`, creationTimestamp: "2025-06-15T00:00:00Z", ...object.metadata },
      }) as unknown as KubeObject,
  );
}

const aClaim = (name: string): Draft =>
  ({
    ...aRestoringClaim(name, ""),
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "disk", resources: { requests: { storage: "1Gi" } } },
  }) as Draft;

const create = (object: Draft): Change => {
  const { kind, metadata } = object;
  const { namespace, name = "" } = metadata;
  return { kind: "create", ref: { kind: kind as never, namespace, name }, object };
};

/** What users have done so far, in this order. */
function lifeOf(dice: Dice): readonly Change[] {
  const steps: Change[] = [create(aClaim("made"))];
  for (let index = 0; index < 1 + dice() * 3; index++)
    steps.push(
      create(
        aSnapshot(`s${index}`, {
          claim: oneOf(dice, ["data", "made", "made", "other", "nothing"]),
          className: oneOf(dice, ["delete", "delete", "retain", "secret", "gone"]),
        }),
      ),
    );
  if (dice() < 0.3) steps.push(create(aSnapshot("s0", { claim: "theirs", namespace: "guest", className: "delete" })));
  if (dice() < 0.4)
    steps.push(create(aContent("given", given, { snapshot: "given", policy: oneOf(dice, ["Delete", "Retain"]) })));
  if (dice() < 0.3) steps.push(create(aSnapshotOfContent("given", "given")));
  if (dice() < 0.3) steps.push(create(aGrant("open", "guest")));
  for (let index = 0; index < dice() * 3; index++)
    steps.push(
      create(
        aRestoringClaim(
          `r${index}`,
          oneOf(dice, ["s0", "s0", "s1", "nothing"]),
          oneOf(dice, ["default", "default", "guest"]),
        ),
      ),
    );
  if (dice() < 0.25)
    steps.push({
      kind: "delete",
      ref: { kind: "VolumeSnapshot", namespace: "default", name: oneOf(dice, ["s0", "s1"]) },
    });
  if (dice() < 0.2)
    steps.push({
      kind: "delete",
      ref: { kind: "PersistentVolumeClaim", namespace: "default", name: oneOf(dice, ["data", "made", "r0"]) },
    });
  return steps;
}

/** Any object of the cluster, or a new one. */
export function changeOf(seed: number, objects: readonly KubeObject[]): Change {
  const dice = diceFrom(seed * 17 + 3);
  const of = (...kinds: readonly string[]): readonly KubeObject[] => objects.filter(({ kind }) => kinds.includes(kind));
  const refOf = ({ kind, metadata: { namespace, name } }: KubeObject) => ({ kind: kind as never, namespace, name });
  const roll = dice();
  if (roll < 0.5) {
    const kind = oneOf(dice, [
      "VolumeSnapshot",
      "VolumeSnapshot",
      "VolumeSnapshotContent",
      "PersistentVolumeClaim",
      "PersistentVolume",
      "VolumeSnapshotClass",
    ]);
    const found = of(kind);
    return {
      kind: "delete",
      ref: found.length === 0 ? { kind: "VolumeSnapshotClass", name: "delete" } : refOf(oneOf(dice, found)),
    };
  }
  if (roll < 0.65) return { kind: "delete", ref: { kind: "Namespace", name: oneOf(dice, spaces.slice(1)) } };
  if (roll < 0.85) return create(aRestoringClaim("new", oneOf(dice, ["s0", "s1", "given"]), oneOf(dice, spaces)));
  const contents = of("VolumeSnapshotContent");
  if (roll < 0.93 && contents.length > 0)
    return {
      kind: "patch",
      ref: refOf(oneOf(dice, contents)),
      body: { spec: { deletionPolicy: oneOf(dice, ["Delete", "Retain"]) } },
    };
  return create(
    draftOf(
      "VolumeSnapshot",
      { namespace: "default", name: "new" },
      {
        spec: {
          source: { persistentVolumeClaimName: "data" },
          volumeSnapshotClassName: oneOf(dice, ["delete", "retain"]),
        },
      },
    ),
  );
}
