/**
 * VolumeAttributesClasses, for claims that name one. They are read when they are needed and not watched: most clusters have none, and
 * the release's role does not allow it.
 *
 * Memory: at most `classesMax`, each for a moment. What is lost with it is read again.
 */
import type { Millis } from "../../../base/brand.ts";
import { isFault } from "../../../base/fault.ts";
import { isObject } from "../../../base/json.ts";
import { createLru } from "../../../base/lru.ts";
import type { World } from "../../../base/world.ts";
import type { PathReader } from "../../../kube/api.ts";
import type { AttributesClass } from "./prepare.ts";

export interface AttributesReader {
  /** Undefined: to be read first. */
  get(name: string): AttributesClass | undefined;
  read(name: string, signal: AbortSignal): Promise<void>;
}

const classesMax = 100;
const validMs: Millis = 10_000;

export function createAttributesReader(api: PathReader, world: Pick<World, "elapsed">): AttributesReader {
  const classes = createLru<{ readonly found: AttributesClass; readonly atMs: Millis }>(classesMax);
  return {
    get: (name) => {
      const known = classes.get(name);
      return known !== undefined && world.elapsed() - known.atMs < validMs ? known.found : undefined;
    },
    read: async (name, signal) => {
      const path = `/apis/storage.k8s.io/v1/volumeattributesclasses/${encodeURIComponent(name)}`;
      const object = await api.getPath(path, { signal }).catch((reason: unknown) => {
        if (isFault(reason, "NotFound")) return undefined;
        throw reason;
      });
      const { driverName = "", parameters = {} } = isObject(object) ? (object as Partial<Found>) : {};
      const found: AttributesClass =
        object === undefined ? { kind: "missing" } : { kind: "class", driverName, parameters };
      classes.set(name, { found, atMs: world.elapsed() });
    },
  };
}

interface Found {
  readonly driverName: string;
  readonly parameters: Readonly<Record<string, string>>;
}
