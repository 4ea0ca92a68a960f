/** Pod: stored, defaulted, judged and deleted with grace. Nothing schedules or runs it here. */
import type { Pod, PodSpec } from "kubernetes-types/core/v1.js";
import { clone, equal, isObject, type JsonObject } from "../../base/json.ts";
import { forbidden } from "../../schema/field-error.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import { as, ensure, part, setDefault } from "./check.ts";
import { setOwnPodDefaults, setPodSpecDefaults } from "./pod-defaults.ts";
import { podSpecErrors } from "./pod-rules.ts";

const specOf = (object: ApiObject): PodSpec => as<Pod>(object).spec ?? { containers: [] };

export const podStrategy: Strategy = {
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setPodSpecDefaults(spec);
    setOwnPodDefaults(spec);
    const { status } = object;
    if (isObject(status) && status.podIP !== undefined) setDefault(status, "podIPs", [{ ip: status.podIP }]);
  },
  prepareForCreate: (object) => {
    object.status = { phase: "Pending", qosClass: qosClassOf(specOf(object)) };
  },
  validateCreate: (object) => podSpecErrors(specOf(object), "spec"),
  prepareForUpdate: (object, old, { subresource }) => {
    if (subresource === "status") object.status = { qosClass: qosClassOf(specOf(old)), ...part(object, "status") };
  },
  validateUpdate: (object, old, { subresource }) =>
    subresource === "status" ? [] : [...podSpecErrors(specOf(object), "spec"), ...changeErrors(object, old)],
  graceSeconds: (object, asked) => {
    const { nodeName = "", terminationGracePeriodSeconds = 30 } = specOf(object);
    const { phase } = part(object, "status");
    if (nodeName === "" || phase === "Succeeded" || phase === "Failed") return 0;
    const seconds = asked ?? terminationGracePeriodSeconds;
    return seconds < 0 ? 1 : seconds;
  },
};

const computing = ["cpu", "memory"];

/** Guaranteed: limits for everything, and all of it requested. BestEffort: nothing said at all. */
function qosClassOf(spec: PodSpec): string {
  const resources = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources = {} }) => resources);
  const says = (list: Readonly<Record<string, string>> | undefined): boolean =>
    computing.some((name) => list?.[name] !== undefined);
  if (!resources.some(({ limits, requests }) => says(limits) || says(requests))) return "BestEffort";
  const isExact = resources.every(({ limits, requests }) =>
    computing.every((name) => limits?.[name] !== undefined && limits[name] === (requests?.[name] ?? limits[name])),
  );
  return isExact ? "Guaranteed" : "Burstable";
}

const mutableFields =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function changeErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const [now, before] = [fixedParts(object), fixedParts(old)];
  if (equal(now, before)) return [];
  const changed = Object.keys({ ...now, ...before }).filter((key) => !equal(now[key], before[key]));
  return [forbidden("spec", `${mutableFields}\nchanged: ${changed.sort().join(", ")}`)];
}

function fixedParts(object: ApiObject): JsonObject {
  const spec = clone(part(object, "spec")) as JsonObject;
  for (const key of ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"]) delete spec[key];
  for (const key of ["containers", "initContainers"]) {
    const list = spec[key];
    for (const container of Array.isArray(list) ? list : []) if (isObject(container)) delete container.image;
  }
  return spec;
}
