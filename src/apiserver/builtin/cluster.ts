/** Namespace and Node. */
import type { Namespace, Node } from "kubernetes-types/core/v1.js";
import { isObject } from "../../base/json.ts";
import { child, duplicate, indexed, invalid, required } from "../../schema/field-error.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import { as, ensure, finalizerErrors, oneOf, part, qualifiedNameErrors, resourceErrors } from "./check.ts";

const nameLabel = "kubernetes.io/metadata.name";
const ownFinalizer = "kubernetes";

const finalizersOf = (object: ApiObject): readonly string[] => as<Namespace>(object).spec?.finalizers ?? [];

/** The name is known at last, even a generated one. */
function labelWithName(object: ApiObject): void {
  const { name } = object.metadata;
  if (name !== undefined && name !== "") object.metadata.labels = { ...object.metadata.labels, [nameLabel]: name };
}

/**
 * A namespace is removed in two steps: a deletion makes it Terminating, and when its content is gone the "kubernetes"
 * entry leaves spec.finalizers (by PUT /finalize, or by the namespace's own background work).
 */
export const namespaceStrategy: Strategy = {
  defaults: labelWithName,
  prepareForCreate: (object) => {
    const spec = ensure(object, "spec");
    const finalizers = finalizersOf(object);
    if (!finalizers.includes(ownFinalizer)) spec.finalizers = [...finalizers, ownFinalizer];
    object.status = { phase: "Active" };
    labelWithName(object);
  },
  validateCreate: (object) => specFinalizerErrors(object, () => "spec.finalizers"),
  prepareForUpdate: (object, old, { subresource }) => {
    if (subresource === "status") object.spec = old.spec;
    else if (subresource === "finalize") object.status = old.status;
    else {
      const finalizers = finalizersOf(old);
      object.spec = finalizers.length === 0 ? {} : { finalizers: [...finalizers] };
      object.status = old.status;
    }
    labelWithName(object);
  },
  validateUpdate: (object, _old, { subresource }) => {
    if (subresource === "status") return phaseErrors(object);
    if (subresource === "finalize") return specFinalizerErrors(object, (index) => indexed("spec.finalizers", index));
    return specFinalizerErrors(object, () => "spec.finalizers");
  },
  prepareForDelete: (object) => {
    object.status = { ...part(object, "status"), phase: "Terminating" };
  },
  holdsDeletion: (object) => finalizersOf(object).length > 0,
};

const specFinalizerErrors = (object: ApiObject, fieldAt: (index: number) => string): readonly FieldError[] =>
  finalizersOf(object).flatMap((name, index) => [
    ...qualifiedNameErrors(fieldAt(index), name),
    ...finalizerErrors(fieldAt(index), name),
  ]);

function phaseErrors(object: ApiObject): readonly FieldError[] {
  const { phase } = part(object, "status");
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const wanted = deleting ? "Terminating" : "Active";
  if (phase === wanted) return [];
  const when = deleting ? "is not empty" : "is empty";
  return [invalid("status.Phase", phase ?? "", `may only be '${wanted}' if \`deletionTimestamp\` ${when}`)];
}

export const nodeStrategy: Strategy = {
  defaults: (object) => {
    const status = ensure(object, "status");
    if (status.allocatable === undefined && isObject(status.capacity)) status.allocatable = { ...status.capacity };
  },
  prepareForUpdate: (object, old, { subresource }) => {
    if (subresource === "status") object.spec = old.spec;
    else object.status = old.status;
  },
  validateCreate: (object) => nodeErrors(object),
  // Kubernetes judges the new state twice, and says so.
  validateUpdate: (object) => [...nodeErrors(object), ...nodeErrors(object)],
};

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function nodeErrors(object: ApiObject): readonly FieldError[] {
  const { spec = {}, status = {} } = as<Node>(object);
  const seen = new Set<string>();
  const taints = (spec.taints ?? []).flatMap((taint, index) => {
    const field = indexed("metadata.taints", index);
    const errors = [...qualifiedNameErrors(child(field, "key"), taint.key)];
    if (taint.effect === "") errors.push(required(child(field, "effect")));
    else errors.push(...oneOf(child(field, "effect"), taint.effect, taintEffects));
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) errors.push(duplicate(field, taint));
    seen.add(identity);
    return errors;
  });
  const capacity = Object.entries(status.capacity ?? {}).flatMap(([name, value]) =>
    resourceErrors(indexed("status.capacity", name), value),
  );
  return [...taints, ...capacity];
}
