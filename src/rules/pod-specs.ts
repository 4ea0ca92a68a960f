/** Where the kinds that make pods keep the pod's spec. */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";

const template = ["spec", "template", "spec"] as const;

const podSpecPaths: Readonly<Record<string, readonly string[]>> = {
  Pod: ["spec"],
  PodTemplate: ["template", "spec"],
  Deployment: template,
  StatefulSet: template,
  DaemonSet: template,
  ReplicaSet: template,
  ReplicationController: template,
  DeploymentConfig: template,
  Job: template,
  CronJob: ["spec", "jobTemplate", "spec", "template", "spec"],
};

export const memberAt = (value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>((found, key) => (isObject(found) ? found[key] : undefined), value);

export const listAt = (value: JsonValue, path: readonly string[]): readonly JsonValue[] => {
  const found = memberAt(value, path);
  return Array.isArray(found) ? found : [];
};

/** The volumes of the pods that an object makes, each with its path in the object. */
export function podVolumes(
  object: JsonObject,
): readonly { readonly path: readonly (string | number)[]; readonly volume: JsonValue }[] {
  const kind = String(object.kind ?? "");
  if (!Object.hasOwn(podSpecPaths, kind)) return [];
  const path = [...(podSpecPaths[kind] ?? []), "volumes"];
  return listAt(object, path).map((volume, index) => ({ path: [...path, index], volume }));
}
