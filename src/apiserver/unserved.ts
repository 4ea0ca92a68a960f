/** What Kubernetes has and this server does not, said in a way that helps: a plain "not found" would look like a mistake of the user. */
import { isObject, type JsonObject } from "../base/json.ts";
import { part } from "./builtin/check.ts";
import type { Resource } from "./contracts.ts";
import { Refusal } from "./status.ts";
import { ownEntry } from "./target.ts";

const noKubelet = "pods are stored here and never run, so there is nothing to reach: use a cluster with nodes";
const noNetwork = "nothing listens behind services and nodes here: use a cluster with nodes";

/** The keys are "plural/subresource" of the core group. */
const unserved: Readonly<Record<string, string>> = {
  "serviceaccounts/token":
    'it issues no tokens; act as the account by "kubectl --as=system:serviceaccount:NAMESPACE:NAME", or give it a token of your own in the file of "snapkeep apiserver --token-auth-file"',
  "pods/attach": noKubelet,
  "pods/exec": noKubelet,
  "pods/log": noKubelet,
  "pods/portforward": noKubelet,
  "pods/proxy": noKubelet,
  "nodes/proxy": noNetwork,
  "services/proxy": noNetwork,
};

const scalable = ["apps/deployments", "apps/replicasets", "apps/statefulsets", "/replicationcontrollers"];

/** A definition may say that its objects have a scale; it is not served either. */
function isScalable({ group, plural, version, definition }: Resource): boolean {
  if (definition === undefined) return scalable.includes(`${group}/${plural}`);
  const { versions = [] } = part(definition, "spec") as { versions?: readonly JsonObject[] };
  const { subresources } = versions.find(({ name }) => name === version) ?? {};
  return isObject(subresources) && isObject(subresources.scale);
}

function whyNot(resource: Resource, subresource: string): string | undefined {
  if (subresource === "scale" && isScalable(resource)) return "change the number of replicas in the object itself";
  return resource.group === "" ? ownEntry(unserved, `${resource.plural}/${subresource}`) : undefined;
}

/** Kubernetes has it, though we do not list it. */
export const isUnserved = (resource: Resource, subresource: string): boolean =>
  whyNot(resource, subresource) !== undefined;

export const notServed = (resource: Resource, subresource: string): Refusal =>
  new Refusal(
    501,
    "NotImplemented",
    `${resource.plural}/${subresource} is not served by the embedded API server: ${whyNot(resource, subresource) ?? "use a real one"}`,
  );
