/** Objects of any kind that the cluster serves, by their paths; kinds come from discovery. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { isFault } from "../../base/fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { PathReader, PathWriter } from "../../kube/api.ts";
import { listPath } from "../../kube/list-path.ts";
import { withQuery } from "../../kube/query.ts";
import { at } from "./fields.ts";

export const fieldManager = "snapkeep-install";

export interface Resources {
  /** False: the cluster does not serve the object's kind. */
  serves(object: ManifestObject): Promise<boolean>;
  read(object: ManifestObject): Promise<JsonObject | undefined>;
  apply(object: ManifestObject, options?: ApplyRequest): Promise<JsonObject>;
  /** As it was read, with changes. */
  replace(object: JsonObject): Promise<void>;
  /** This incarnation alone. False: there was none. In the foreground, a workload stays until its pods are gone. */
  remove(stored: JsonObject, options?: { readonly isForeground?: boolean }): Promise<boolean>;
  /** All objects of a kind, in all namespaces or in one; none where the kind is not served. */
  list(apiVersion: string, kind: string, where?: ListPlace): Promise<readonly JsonObject[]>;
  /** Kinds are looked up anew: definitions were added. */
  forget(): void;
}

export interface ApplyRequest {
  readonly dryRun?: boolean;
  /** As it was read, or that it was not there: a Conflict if it is not so any more. */
  readonly instead?: JsonObject | "nothing";
}

export interface ListPlace {
  readonly namespace?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

interface Resource {
  readonly name: string;
  readonly isNamespaced: boolean;
}

export function createResources(api: PathReader & PathWriter, signal: AbortSignal): Resources {
  const known = new Map<string, Promise<ReadonlyMap<string, Resource>>>();
  const rootOf = (apiVersion: string): string =>
    apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const resourcesOf = (apiVersion: string) => {
    const found = known.get(apiVersion) ?? discovered(api, rootOf(apiVersion), signal);
    known.set(apiVersion, found);
    return found;
  };
  const pathOf = async ({ apiVersion, kind, metadata }: ManifestObject): Promise<string | undefined> => {
    const resource = (await resourcesOf(apiVersion)).get(kind);
    if (resource === undefined) return undefined;
    const place = resource.isNamespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
    return `${rootOf(apiVersion)}${place}/${resource.name}/${encodeURIComponent(metadata.name)}`;
  };
  const missing = (reason: unknown): undefined => {
    if (isFault(reason, "NotFound")) return undefined;
    throw reason;
  };
  return {
    serves: async (object) => (await pathOf(object)) !== undefined,
    read: async (object) => {
      const path = await pathOf(object);
      return path === undefined ? undefined : asObject(await api.getPath(path, { signal }).catch(missing));
    },
    apply: async (object, { dryRun = false, instead } = {}) => {
      const path = (await pathOf(object)) ?? "";
      const resourceVersion = isObject(instead) ? at(instead, "metadata", "resourceVersion") : undefined;
      const metadata = { ...object.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      // Of an object that was not there, all fields are ours, unless somebody else has created it meanwhile.
      const options = { fieldManager, force: instead !== "nothing", dryRun, signal };
      return asObject(await api.applyPath(path, { ...object, metadata } as unknown as JsonObject, options)) ?? {};
    },
    replace: async (object) => {
      await api.replacePath((await pathOf(object as unknown as ManifestObject)) ?? "", object, { signal });
    },
    remove: async (stored, { isForeground } = {}) => {
      const object = stored as unknown as ManifestObject & { readonly metadata: { readonly uid?: string } };
      const path = await pathOf(object);
      if (path === undefined) return false;
      return api.deletePath(path, { signal, isForeground, uid: object.metadata.uid }).then(
        () => true as const,
        (reason) => missing(reason) ?? false,
      );
    },
    list: async (apiVersion, kind, { namespace, fieldSelector } = {}) => {
      const resource = (await resourcesOf(apiVersion)).get(kind);
      if (resource === undefined) return [];
      const place = namespace === undefined ? "" : `/namespaces/${namespace}`;
      const path = withQuery(`${rootOf(apiVersion)}${place}/${resource.name}`, { fieldSelector });
      const answer = await listPath(api, path, { signal });
      return isObject(answer) && Array.isArray(answer.items) ? answer.items.filter(isObject) : [];
    },
    forget: () => known.clear(),
  };
}

const asObject = (value: JsonValue | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);

async function discovered(api: PathReader, root: string, signal: AbortSignal): Promise<ReadonlyMap<string, Resource>> {
  const answer = await api.getPath(root, { signal }).catch((reason: unknown) => {
    if (isFault(reason, "NotFound")) return undefined;
    throw reason;
  });
  const rows = isObject(answer) && Array.isArray(answer.resources) ? answer.resources.filter(isObject) : [];
  return new Map(
    rows
      .filter(({ name }) => !String(name).includes("/"))
      .map(({ kind, name, namespaced }) => [String(kind), { name: String(name), isNamespaced: namespaced === true }]),
  );
}
