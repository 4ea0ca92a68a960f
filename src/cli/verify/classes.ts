/** Which StorageClass and which VolumeSnapshotClass a round uses, and why there is none. Pure. */
import { annotations, provisioning } from "../../api/names.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { KubeObject, ObjectOf, VolumeSnapshotClass } from "../../api/types.ts";
import { type ErrorCode, fix, withCode } from "../../errors/codes.ts";

type StorageClass = ObjectOf<"StorageClass">;

export interface ClassesRead {
  readonly storageClasses: readonly StorageClass[];
  readonly snapshotClasses: readonly VolumeSnapshotClass[];
}

/** Empty names: whichever is the default. */
export interface ClassWishes {
  readonly storageClass: string;
  readonly snapshotClass: string;
  readonly hasPods: boolean;
}

export interface Chosen {
  readonly storageClass: string;
  readonly snapshotClass: string;
  readonly driver: string;
}

export type Choice =
  | { readonly kind: "chosen"; readonly chosen: Chosen }
  | { readonly kind: "blocked"; readonly why: CodedMessage };

const blocked = (text: string, code: ErrorCode): Choice => ({ kind: "blocked", why: withCode(text, code) });

/** Kubernetes' name for volumes that are made by hand. */
const byHand = "kubernetes.io/no-provisioner";

export function chooseClasses(read: ClassesRead, wishes: ClassWishes): Choice {
  const wanted = named(read.snapshotClasses, wishes.snapshotClass);
  if (wishes.snapshotClass !== "" && wanted === undefined)
    return blocked(
      `there is no VolumeSnapshotClass ${wishes.snapshotClass}${listed(read.snapshotClasses)}; ${fix("SNAP-852", "your driver")}`,
      "SNAP-852",
    );
  const storageClass = storageClassFor(read.storageClasses, wishes, wanted?.driver);
  if (storageClass === undefined)
    return blocked(`${noStorageClass(read.storageClasses, wishes, wanted)}; ${fix("SNAP-851")}`, "SNAP-851");
  const { provisioner: driver, volumeBindingMode } = storageClass;
  const { name } = storageClass.metadata;
  if (driver === byHand)
    return blocked(`StorageClass ${name} has the provisioner ${byHand}; ${fix("SNAP-853")}`, "SNAP-853");
  if (!wishes.hasPods && volumeBindingMode === "WaitForFirstConsumer")
    return blocked(`StorageClass ${name} waits for a first consumer; ${fix("SNAP-855")}`, "SNAP-855");
  if (wanted !== undefined && wanted.driver !== driver)
    return blocked(
      `StorageClass ${name} is of driver ${driver}, and VolumeSnapshotClass ${wanted.metadata.name} of ${wanted.driver}; ${fix("SNAP-854")}`,
      "SNAP-854",
    );
  const snapshotClass = wanted ?? snapshotClassFor(read.snapshotClasses, driver);
  return snapshotClass === undefined
    ? blocked(`${noSnapshotClass(read.snapshotClasses, driver)}; ${fix("SNAP-852", driver)}`, "SNAP-852")
    : { kind: "chosen", chosen: { storageClass: name, snapshotClass: snapshotClass.metadata.name, driver } };
}

const named = <T extends KubeObject>(objects: readonly T[], name: string): T | undefined =>
  objects.find(({ metadata }) => metadata.name === name);

const listed = (objects: readonly KubeObject[]): string =>
  objects.length === 0 ? "" : `, but ${objects.map(({ metadata }) => metadata.name).join(", ")}`;

const isTrue = ({ metadata }: KubeObject, annotation: string): boolean => metadata.annotations?.[annotation] === "true";

/** Kubernetes, too, takes the newest of several default classes. */
const newest = (one: KubeObject, other: KubeObject): number =>
  Date.parse(other.metadata.creationTimestamp ?? "") - Date.parse(one.metadata.creationTimestamp ?? "");

function storageClassFor(
  all: readonly StorageClass[],
  { storageClass }: ClassWishes,
  driver: string | undefined,
): StorageClass | undefined {
  if (storageClass !== "") return named(all, storageClass);
  const fitting = all.filter(({ provisioner }) => driver === undefined || provisioner === driver);
  const defaults = fitting.filter((one) => isTrue(one, provisioning.defaultClass)).toSorted(newest);
  return defaults[0] ?? (driver === undefined ? undefined : fitting[0]);
}

function noStorageClass(
  all: readonly StorageClass[],
  { storageClass }: ClassWishes,
  wanted: VolumeSnapshotClass | undefined,
): string {
  if (all.length === 0) return "there is no StorageClass";
  if (storageClass !== "") return `there is no StorageClass ${storageClass}${listed(all)}`;
  if (wanted !== undefined)
    return `no StorageClass is of ${wanted.driver}, the driver of VolumeSnapshotClass ${wanted.metadata.name}`;
  return `no StorageClass is the default; there ${all.length === 1 ? "is" : "are"} ${all.map(({ metadata }) => metadata.name).join(", ")}`;
}

function snapshotClassFor(all: readonly VolumeSnapshotClass[], driver: string): VolumeSnapshotClass | undefined {
  const own = all.filter((one) => one.driver === driver);
  return (
    own.filter((one) => isTrue(one, annotations.defaultClass)).toSorted(newest)[0] ??
    (own.length === 1 ? own[0] : undefined)
  );
}

const noSnapshotClass = (all: readonly VolumeSnapshotClass[], driver: string): string => {
  const own = all.filter((one) => one.driver === driver);
  return own.length === 0
    ? `no VolumeSnapshotClass is of driver ${driver}`
    : `none of the VolumeSnapshotClasses of driver ${driver} is the default: ${own.map(({ metadata }) => metadata.name).join(", ")}`;
};
