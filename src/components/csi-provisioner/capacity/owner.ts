/**
 * The object that owns what is published, so that it goes with the driver: the pod itself, or the object that controls it, or the one
 * above. Walked up once, with `get` of each object but the last.
 */
import type { OwnerReference } from "../../../api/types.ts";
import { type Backoff, backoffMs } from "../../../base/backoff.ts";
import { Fault, loggable } from "../../../base/fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { PathReader } from "../../../kube/api.ts";
import type { CapacityOptions } from "./options.ts";

type Place = Pick<CapacityOptions, "namespace" | "podName" | "ownerLevel">;
type Named = Pick<OwnerReference, "apiVersion" | "kind" | "name">;

export interface OwnerSearch {
  readonly api: PathReader;
  readonly options: Place;
  readonly world: World;
  readonly log: Log;
  readonly backoff: Backoff;
}

/** Undefined: none is wanted, or the signal has aborted. Volumes are created meanwhile. */
export async function ownerWhenFound(
  { api, options, world, log, backoff }: OwnerSearch,
  signal: AbortSignal,
): Promise<OwnerReference | undefined> {
  if (options.ownerLevel < 0) return undefined;
  for (let failures = 0; !signal.aborted; failures++)
    try {
      return await findOwner(api, options, signal);
    } catch (reason) {
      if (signal.aborted) return undefined;
      log.warn("storage capacity is not published: the owner of its objects cannot be found", {
        reason: loggable(reason),
        remedy:
          "set POD_NAME and NAMESPACE from the pod's metadata, grant get of pods and replicasets there, or set --capacity-ownerref-level=-1",
      });
      await world.sleep(backoffMs(backoff, failures, world.random()), signal).catch(() => undefined);
    }
  return undefined;
}

export async function findOwner(
  api: PathReader,
  { namespace, podName, ownerLevel: level }: Place,
  signal: AbortSignal,
): Promise<OwnerReference> {
  const read = async (named: Named): Promise<JsonObject> => {
    const object = await api.getPath(await pathOf(api, namespace, named, signal), { signal });
    return metadataOf(object);
  };
  let named: Named = { apiVersion: "v1", kind: "Pod", name: podName };
  let metadata = await read(named);
  for (let left = level; left > 0; left--) {
    const owner = controllerIn(metadata);
    if (owner === undefined)
      throw new Fault(
        "FailedPrecondition",
        `${named.kind} ${namespace}/${named.name} has no controlling owner, so --capacity-ownerref-level=${level} names no object: choose ${level - left}, or -1 for no owner`,
      );
    if (left === 1) return referenceTo(owner, owner.uid);
    named = owner;
    metadata = await read(named);
  }
  return referenceTo(named, String(metadata.uid));
}

const referenceTo = ({ apiVersion, kind, name }: Named, uid: string): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
});

const metadataOf = (object: JsonValue): JsonObject =>
  isObject(object) && isObject(object.metadata) ? object.metadata : {};

function controllerIn({ ownerReferences }: JsonObject): OwnerReference | undefined {
  if (!Array.isArray(ownerReferences)) return undefined;
  return ownerReferences.find((one) => isObject(one) && one.controller === true) as unknown as
    | OwnerReference
    | undefined;
}

/** The resource of a kind that may be anybody's is asked for. */
async function pathOf(
  api: PathReader,
  namespace: string,
  { apiVersion, kind, name }: Named,
  signal: AbortSignal,
): Promise<string> {
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { plural, isNamespaced } =
    kind === "Pod" ? { plural: "pods", isNamespaced: true } : await resourceOf(api, group, kind, signal);
  const place = isNamespaced ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${group}${place}/${plural}/${encodeURIComponent(name)}`;
}

async function resourceOf(api: PathReader, group: string, kind: string, signal: AbortSignal) {
  const list = await api.getPath(group, { signal });
  const resources = isObject(list) && Array.isArray(list.resources) ? list.resources : [];
  for (const one of resources)
    if (isObject(one) && one.kind === kind && typeof one.name === "string" && !one.name.includes("/"))
      return { plural: one.name, isNamespaced: one.namespaced === true };
  throw new Fault("NotFound", `the API server does not serve ${kind} in ${group}`);
}
