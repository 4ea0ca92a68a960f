/** Volumes that went before anybody could hear of it, and PersistentVolumes that were stored by requests which outlived their sender. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { provisioning } from "../../../src/api/names.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import { type Bench, driver, idsFoundIn, object } from "./bench.ts";
import { name, stores, uid } from "./volume-histories.ts";

const id = `volume-${name}`;
const aVolume = (policy: string, isHeld: boolean): KubeObject =>
  object(
    "PersistentVolume",
    { name, uid: "volume", finalizers: isHeld ? [provisioning.volumeFinalizer] : [] },
    {
      spec: {
        csi: { driver, volumeHandle: id },
        claimRef: { namespace: "default", name: "shop", uid },
        persistentVolumeReclaimPolicy: policy,
      },
      status: { phase: "Released" },
    },
  );
const retained = ({ volumes, write }: Bench): void => {
  volumes.set(id, { id, name, bytes: 1n } as never);
  write("user", undefined, aVolume("Retain", true));
};
const losesFinalizer = ({ write }: Bench): void =>
  write("csi-provisioner", aVolume("Retain", true), aVolume("Retain", false));
const losesFinalizerWrongly = ({ write }: Bench): void =>
  write("csi-provisioner", aVolume("Delete", true), aVolume("Delete", false));
const becomesDeletable = ({ write }: Bench): void => write("user", aVolume("Retain", false), aVolume("Delete", false));
const heard = ({ show }: Bench): void => show("csi-provisioner");
const later = ({ note }: Bench): void => note("call", "GET /api/v1/persistentvolumes");
const goes = ({ write }: Bench): void => write("user", aVolume("Delete", false), undefined);

const histories: readonly [string, readonly string[], readonly ((bench: Bench) => void)[]][] = [
  [
    "a volume that went before its provisioner heard that it was given up is nobody's leak",
    [],
    [retained, heard, later, losesFinalizer, becomesDeletable, goes],
  ],
  [
    "a volume that went after its provisioner heard that it was given up is leaked",
    ["V-6"],
    [retained, heard, later, losesFinalizer, becomesDeletable, heard, later, goes],
  ],
  [
    "a volume that its provisioner freed although it is to be deleted is leaked",
    ["V-6"],
    [retained, heard, later, losesFinalizerWrongly, goes],
  ],
];

const aClaim = object(
  "PersistentVolumeClaim",
  { namespace: "default", name: "shop", uid },
  { spec: { volumeName: name } },
);
const claimed = ({ write }: Bench): void => write("user", undefined, aClaim);
const unclaimed = ({ write }: Bench): void => write("user", aClaim, undefined);
const crashed = ({ note }: Bench): void => note("crash", "", "csi-provisioner.1");
const published = ({ write }: Bench): void => write("csi-provisioner", undefined, aVolume("Delete", true));
const hadAnother = ({ write }: Bench): void => {
  const { metadata, ...rest } = aVolume("Delete", true);
  const another = { ...rest, metadata: { ...metadata, uid: "another" } };
  write("user", undefined, another);
  write("user", another, undefined);
};

const made = ({ volumes }: Bench): void => void volumes.set(id, { id, name, bytes: 1n } as never);
const becomesRetained = ({ write }: Bench): void => {
  write("user", aVolume("Delete", true), aVolume("Retain", true));
  write("csi-provisioner", aVolume("Retain", true), undefined);
};
const goesAtDriver = (bench: Bench): void => {
  bench.call("DeleteVolume", id);
  bench.volumes.clear();
};

const lateHistories: typeof histories = [
  [
    "a request whose sender crashed later has not outlived it: the volume that its owner retained is not to be deleted",
    ["V-4"],
    [claimed, made, published, unclaimed, becomesRetained, crashed, goesAtDriver],
  ],
  [
    "a request that outlives its sender gives a claim a PersistentVolume without a volume",
    ["V-5", "V-7"],
    [claimed, crashed, published],
  ],
  ["a request that outlives its sender and its claim harms nobody", [], [claimed, unclaimed, crashed, published]],
  [
    "a request that outlives its sender brings a PersistentVolume back that somebody has deleted",
    [],
    [claimed, hadAnother, crashed, published],
  ],
];

const aSource = (names: readonly string[]): KubeObject =>
  object("PersistentVolumeClaim", { namespace: "default", name: "data", uid: "data", finalizers: [...names] }, {});
const cloning = [provisioning.claimCloningFinalizer];
const cloned = (bench: Bench): void => {
  bench.write("user", undefined, aSource(cloning));
  stores(bench, { [name]: { claim: { uid }, call: { name }, claimKey: "default/data" } });
};
const busy = (bench: Bench): void => void bench.busy.add(name);
const freed = ({ write }: Bench): void => write("csi-provisioner", aSource(cloning), aSource([]));
const onlyV8 = (ids: readonly string[]): readonly string[] => ids.filter((item) => item === "V-8");

for (const [claim, ids, steps] of [
  ["a source that loses its finalizer while the driver makes a volume from it is not protected", ["V-8"], [busy]],
  ["a source may lose its finalizer when the driver is at work on a volume that is made", [], [made, busy]],
  ["a source may lose its finalizer when the driver is not at work", [], []],
] as const)
  test(claim, () =>
    assert.deepEqual(
      onlyV8(
        idsFoundIn((bench) => {
          for (const step of [cloned, ...steps, freed]) step(bench);
        }),
      ),
      ids,
    ),
  );

for (const [claim, ids, steps] of [...histories, ...lateHistories])
  test(claim, () =>
    assert.deepEqual(
      idsFoundIn((bench) => {
        for (const step of steps) step(bench);
      }),
      ids,
    ),
  );
