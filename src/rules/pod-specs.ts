/** The kinds that make pods, and where each keeps the volumes of its pods. */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";

interface PodMaker {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  /** From the object to lists of volumes. */
  readonly volumes: readonly (readonly string[])[];
  /** From an entry of such a list to the volume's source: builds keep it one level deeper. */
  readonly source: readonly string[];
}

const template = ["spec", "template", "spec", "volumes"] as const;
const byTemplate = (group: string, kind: string, volumes: readonly string[] = template): PodMaker => ({
  kind,
  group,
  plural: `${kind.toLowerCase()}s`,
  volumes: [volumes],
  source: [],
});
/** The Jenkins and the custom strategy have no volumes, and a BuildRequest has none either. */
const byStrategy = (kind: string): PodMaker => ({
  ...byTemplate("build.openshift.io", kind),
  volumes: ["dockerStrategy", "sourceStrategy"].map((strategy) => ["spec", "strategy", strategy, "volumes"]),
  source: ["source"],
});

/** There is no way to find such kinds: the others are caught when they create their pods. */
export const podMakers: readonly PodMaker[] = [
  byTemplate("", "Pod", ["spec", "volumes"]),
  byTemplate("", "PodTemplate", ["template", "spec", "volumes"]),
  byTemplate("", "ReplicationController"),
  byTemplate("apps", "Deployment"),
  byTemplate("apps", "DaemonSet"),
  byTemplate("apps", "StatefulSet"),
  byTemplate("apps", "ReplicaSet"),
  byTemplate("batch", "Job"),
  byTemplate("batch", "CronJob", ["spec", "jobTemplate", ...template]),
  byTemplate("apps.openshift.io", "DeploymentConfig"),
  byStrategy("Build"),
  byStrategy("BuildConfig"),
];

export const memberAt = (value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>((found, key) => (isObject(found) ? found[key] : undefined), value);

export const entriesAt = (value: JsonValue, path: readonly string[]): readonly JsonValue[] => {
  const found = memberAt(value, path);
  return Array.isArray(found) ? found : [];
};

export interface PodVolume {
  /** Leads to the volume's source in the object. */
  readonly path: readonly (string | number)[];
  readonly name: JsonValue | undefined;
  /** The volume itself, or, of a build, its source. */
  readonly volume: JsonValue;
}

/** The volumes of the pods that an object makes; by its own kind where none is given. */
export function podVolumes(object: JsonObject, kind: unknown = object.kind): readonly PodVolume[] {
  const maker = podMakers.find((row) => row.kind === kind);
  if (maker === undefined) return [];
  return maker.volumes.flatMap((path) =>
    entriesAt(object, path).map((entry, index) => ({
      path: [...path, index, ...maker.source],
      name: memberAt(entry, ["name"]),
      volume: memberAt(entry, maker.source) ?? null,
    })),
  );
}
