/** A namespace that is deleted takes its content along; finalizers of the content are waited for, and said so. */
import { equal, isObject, type JsonObject } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import { part } from "./builtin/check.ts";
import type { ApiObject, Background, CreateBackground, Registry, Resource } from "./contracts.ts";
import { qualified, Refusal } from "./status.ts";

const namespaces = "namespaces";
const ownFinalizer = "kubernetes";

/** Each collection once, in the version it is stored in. */
const contentKinds = (registry: Registry): readonly Resource[] => {
  const namespaced = registry
    .resources()
    .filter(({ scope, verbs }) => scope === "namespace" && verbs.includes("delete"));
  const collections = new Set(namespaced.map(({ collection }) => collection));
  return [...collections].map((collection) => registry.ofCollection(collection)).filter((row) => row !== undefined);
};

export interface Remaining {
  /** "configmaps" → how many. */
  readonly resources: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
}

const listed = (counts: ReadonlyMap<string, number>, say: (name: string, count: number) => string): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => say(name, count))
    .join(", ");

/** What stands in status.conditions while content remains. */
export function conditionsFor({ resources, finalizers }: Remaining): readonly JsonObject[] {
  const condition = (type: string, holds: boolean, reason: string, message: string): JsonObject => ({
    type,
    status: holds ? "True" : "False",
    reason,
    message,
  });
  return [
    condition(
      "NamespaceDeletionDiscoveryFailure",
      false,
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    condition(
      "NamespaceDeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    resources.size === 0
      ? condition("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed")
      : condition(
          "NamespaceContentRemaining",
          true,
          "SomeResourcesRemain",
          `Some resources are remaining: ${listed(resources, (name, count) => `${name} has ${count} resource instances`)}`,
        ),
    finalizers.size === 0
      ? condition(
          "NamespaceFinalizersRemaining",
          false,
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        )
      : condition(
          "NamespaceFinalizersRemaining",
          true,
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${listed(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
        ),
  ];
}

/** A condition that says the same as before keeps its date. */
export function dated(
  wanted: readonly JsonObject[],
  present: readonly JsonObject[],
  now: string,
): readonly JsonObject[] {
  return wanted.map((condition) => {
    const known = present.find(({ type }) => type === condition.type);
    const same = known !== undefined && equal({ ...known, lastTransitionTime: undefined }, condition);
    return { ...condition, lastTransitionTime: same ? (known.lastTransitionTime ?? now) : now };
  });
}

export const createNamespaceDeletion: CreateBackground = ({ registry, world }): Background => {
  const isGoing = (name: string): boolean =>
    registry.get(namespaces, "", name)?.metadata.deletionTimestamp !== undefined;

  async function deleteContent(namespace: string): Promise<void> {
    for (const resource of contentKinds(registry))
      for (const { metadata } of registry.list(resource.collection, namespace)) {
        if (metadata.deletionTimestamp !== undefined) continue;
        try {
          await registry.delete(resource, namespace, metadata.name ?? "", { propagation: "Background" });
        } catch (reason) {
          // Gone in between, which is what was wanted.
          if (!(reason instanceof Refusal && reason.status.code === 404)) throw reason;
        }
      }
  }

  function remainingIn(namespace: string): Remaining {
    const resources = new Map<string, number>();
    const finalizers = new Map<string, number>();
    for (const { collection, plural, group } of contentKinds(registry))
      for (const { metadata } of registry.list(collection, namespace)) {
        const name = `${qualified(plural, group)}${group === "" ? "." : ""}`;
        resources.set(name, (resources.get(name) ?? 0) + 1);
        for (const finalizer of metadata.finalizers ?? [])
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      }
    return { resources, finalizers };
  }

  return {
    name: "namespace-deletion",
    keysFor({ collection, type, now: { object } }) {
      if (collection === namespaces)
        return object.metadata.deletionTimestamp === undefined ? [] : [object.metadata.name ?? ""];
      const { namespace = "" } = object.metadata;
      // Also what slipped in while the deletion began.
      return namespace !== "" && type !== "MODIFIED" && isGoing(namespace) ? [namespace] : [];
    },
    async reconcile(name) {
      const resource = registry.ofCollection(namespaces);
      if (resource === undefined || !isGoing(name)) return undefined;
      await deleteContent(name);
      const remaining = remainingIn(name);
      await registry.modify(
        resource,
        "",
        name,
        (current) => withConditions(current, conditionsFor(remaining), rfc3339(world.now())),
        { subresource: "status" },
      );
      if (remaining.resources.size === 0)
        await registry.modify(resource, "", name, withoutOwnFinalizer, { subresource: "finalize" });
      return undefined;
    },
  };
};

function withoutOwnFinalizer(current: ApiObject): ApiObject | undefined {
  const { finalizers } = part(current, "spec");
  const list = Array.isArray(finalizers) ? finalizers : [];
  if (!list.includes(ownFinalizer)) return undefined;
  const kept = list.filter((one) => one !== ownFinalizer);
  return { ...current, spec: kept.length === 0 ? {} : { finalizers: kept } };
}

function withConditions(current: ApiObject, wanted: readonly JsonObject[], now: string): ApiObject | undefined {
  const status = part(current, "status");
  const present = (Array.isArray(status.conditions) ? status.conditions : []).filter(isObject);
  const conditions = [...dated(wanted, present, now)];
  return equal(conditions, present) ? undefined : { ...current, status: { ...status, conditions } };
}

/** Every active namespace has an account that pods use when they name none. */
export const createServiceAccounts: CreateBackground = ({ registry }): Background => ({
  name: "service-accounts",
  keysFor({ collection, type, now: { object } }) {
    if (collection === namespaces && type === "ADDED") return [object.metadata.name ?? ""];
    const isDefault = collection === "serviceaccounts" && object.metadata.name === "default" && type === "DELETED";
    return isDefault ? [object.metadata.namespace ?? ""] : [];
  },
  async reconcile(namespace) {
    const resource = registry.ofCollection("serviceaccounts");
    const owner = registry.get(namespaces, "", namespace);
    if (resource === undefined || owner === undefined || owner.metadata.deletionTimestamp !== undefined)
      return undefined;
    if (registry.get("serviceaccounts", namespace, "default") !== undefined) return undefined;
    await registry.create(resource, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace },
    });
    return undefined;
  },
});
