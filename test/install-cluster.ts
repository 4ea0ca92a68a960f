/** A cluster as a list of objects, for plans of `snapkeep install`: what they would read of it. */
import type { ManifestObject } from "../src/api/manifests/component.ts";
import type { JsonObject } from "../src/base/json.ts";
import { installationOf } from "../src/cli/deploy.ts";
import type { Resources } from "../src/cli/install/resources.ts";
import { describe, type InstallPlan, planFor } from "../src/cli/install/selection.ts";

export const planIn = (namespace: string, ...names: readonly string[]): InstallPlan =>
  planFor(names, installationOf("1.2.3", { namespace }));

/** As they are applied. */
export const storedOf = (objects: readonly ManifestObject[]): readonly JsonObject[] =>
  objects as unknown as readonly JsonObject[];

export const everythingOf = ({ crds, namespaces, objects }: InstallPlan): readonly JsonObject[] =>
  storedOf([...crds, ...namespaces, ...objects]);

/** The same objects, each changed by `edit`. */
export const edited = (
  objects: readonly JsonObject[],
  edit: (metadata: JsonObject, object: JsonObject) => object,
): readonly JsonObject[] =>
  objects.map((object) => {
    const metadata = object.metadata as JsonObject;
    return { ...object, metadata: { ...metadata, ...edit(metadata, object) } as JsonObject };
  });

/** As a release leaves them that knew only the labels of components. */
export const unlabelled = (objects: readonly JsonObject[]): readonly JsonObject[] =>
  edited(objects, ({ labels }) => {
    const { "snapkeep.dev/installation": _, ...kept } = (labels ?? {}) as JsonObject;
    return { labels: kept, annotations: {} };
  });

export const nameOf = (object: JsonObject): string => describe(object as unknown as ManifestObject);

export interface ClusterReader extends Pick<Resources, "read" | "list" | "serves"> {}

/** `unserved`: kinds that the cluster does not know. */
export function readerOf(cluster: readonly JsonObject[], unserved: readonly string[] = []): ClusterReader {
  return {
    serves: async ({ kind }) => !unserved.includes(kind),
    read: async (object) => cluster.find((found) => nameOf(found) === describe(object)),
    // Items of lists have neither kind nor version.
    list: async (_, kind) =>
      cluster.filter((found) => found.kind === kind).map(({ kind: _kind, apiVersion: _version, ...item }) => item),
  };
}
