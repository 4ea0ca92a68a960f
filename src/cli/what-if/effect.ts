/** What a change does, as the difference of two rests: with it and without it. Pure. */

import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import { type KubeObject, keyOf } from "../../api/types.ts";
import { equal, isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { refTo } from "../explain/finding.ts";
import type { DriverCall } from "./driver.ts";
import type { Prediction } from "./predict.ts";

export interface Touched {
  readonly object: Ref;
  /** terminating: its deletion is asked, and something is in the way. */
  readonly what: "created" | "changed" | "deleted" | "terminating";
  /** What differs, by the paths of the fields. */
  readonly fields: readonly string[];
}

export interface Lost {
  readonly driver: string;
  readonly handle: string;
  readonly what: "snapshot" | "volume";
  /** The objects by which it was known. */
  readonly known: readonly Ref[];
}

export interface Effect {
  readonly touched: readonly Touched[];
  readonly calls: readonly DriverCall[];
  /** Calls that would have been sent without the change. */
  readonly callsSaved: readonly DriverCall[];
  /** Data that the driver deletes. */
  readonly lost: readonly Lost[];
  /** Data that stays with the driver, and nothing in the cluster names it any more. */
  readonly unnamed: readonly Lost[];
}

export function effectBetween({ before, without, after }: Prediction): Effect {
  const [plain, changed] = [byId(without.objects), byId(after.objects)];
  const touched = [...new Set([...plain.keys(), ...changed.keys()])].flatMap((id) =>
    touchedBy(plain.get(id), changed.get(id)),
  );
  const calls = minus(after.calls, without.calls);
  const lost = calls.flatMap((call) => lostBy(call, before));
  return {
    touched,
    calls,
    callsSaved: minus(without.calls, after.calls),
    lost,
    unnamed: handlesIn(without.objects).filter(
      ({ handle, driver }) =>
        !handlesIn(after.objects).some((other) => other.handle === handle && other.driver === driver) &&
        !lost.some((gone) => gone.handle === handle && gone.driver === driver),
    ),
  };
}

const idOf = (object: KubeObject): string => `${object.kind} ${keyOf(object)}`;
const byId = (objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> =>
  new Map(objects.filter(({ kind }) => kind !== "Pod").map((object) => [idOf(object), object]));
const isTerminating = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

function touchedBy(plain: KubeObject | undefined, changed: KubeObject | undefined): readonly Touched[] {
  if (plain === undefined)
    return changed === undefined ? [] : [{ object: refTo(changed), what: "created", fields: [] }];
  if (changed === undefined) return [{ object: refTo(plain), what: "deleted", fields: [] }];
  const fields = differing(withoutDates(plain), withoutDates(changed), "");
  if (isTerminating(changed) && !isTerminating(plain)) return [{ object: refTo(changed), what: "terminating", fields }];
  return fields.length === 0 ? [] : [{ object: refTo(changed), what: "changed", fields }];
}

const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Without what differs between any two runs: versions, and when something happened. */
export function withoutDates(object: KubeObject): JsonObject {
  const {
    resourceVersion: _,
    generation: __,
    managedFields: ___,
    ...metadata
  } = object.metadata as unknown as JsonObject;
  return undated({ ...(object as unknown as JsonObject), metadata }) as JsonObject;
}

function undated(value: JsonValue): JsonValue {
  if (typeof value === "string") return date.test(value) ? "a date" : value;
  if (Array.isArray(value)) return value.map(undated);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "creationTime" || name === "resourceVersion" ? "differs" : undated(member as JsonValue),
    ]),
  );
}

/** The deepest objects' members in which two values differ. */
function differing(one: JsonValue | undefined, other: JsonValue | undefined, path: string): readonly string[] {
  if (equal(one ?? null, other ?? null)) return [];
  if (!isObject(one) || !isObject(other)) return [path];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
    differing(one[name], other[name], path === "" ? name : `${path}.${name}`),
  );
}

/** The same call twice is sent twice. */
function minus(calls: readonly DriverCall[], others: readonly DriverCall[]): readonly DriverCall[] {
  const left = others.map((call) => JSON.stringify(call));
  return calls.filter((call) => {
    const place = left.indexOf(JSON.stringify(call));
    if (place !== -1) left.splice(place, 1);
    return place === -1;
  });
}

function lostBy({ driver, method, subject }: DriverCall, before: readonly KubeObject[]): readonly Lost[] {
  if (method !== "DeleteSnapshot" && method !== "DeleteVolume") return [];
  const what = method === "DeleteSnapshot" ? "snapshot" : "volume";
  const known = handlesIn(before).filter(
    (each) => each.handle === subject && each.driver === driver && each.what === what,
  );
  return [{ driver, handle: subject, what, known: known.flatMap((each) => each.known) }];
}

interface Handled {
  readonly spec?: {
    readonly driver?: string;
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly volumeSnapshotRef?: { readonly namespace?: string; readonly name?: string };
    readonly source?: { readonly snapshotHandle?: string };
  };
  readonly status?: { readonly snapshotHandle?: string };
}

/** The data that objects name. */
function handlesIn(objects: readonly KubeObject[]): readonly Lost[] {
  return objects.flatMap((object): readonly Lost[] => {
    const { spec, status } = object as KubeObject & Handled;
    const user = (kind: KindName, { namespace, name }: { readonly namespace?: string; readonly name?: string } = {}) =>
      name === undefined ? [] : [{ kind, namespace, name }];
    if (object.kind === "VolumeSnapshotContent") {
      const handle = status?.snapshotHandle ?? spec?.source?.snapshotHandle;
      if (handle === undefined) return [];
      return [
        {
          driver: spec?.driver ?? "",
          handle,
          what: "snapshot",
          known: [refTo(object), ...user("VolumeSnapshot", spec?.volumeSnapshotRef)],
        },
      ];
    }
    if (object.kind !== "PersistentVolume" || spec?.csi === undefined) return [];
    const { driver, volumeHandle: handle } = spec.csi;
    return [
      { driver, handle, what: "volume", known: [refTo(object), ...user("PersistentVolumeClaim", spec.claimRef)] },
    ];
  });
}
