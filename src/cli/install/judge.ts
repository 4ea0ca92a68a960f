/** Reads every object of an installation, and judges whose it is. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { withCode } from "../../rules/error-codes.ts";
import { namespacesNamedBy, type Ownership, ownershipOf } from "./ownership.ts";
import type { Resources } from "./resources.ts";
import { describe, type InstallPlan } from "./selection.ts";
import { asksService, type ServiceName } from "./webhook-references.ts";

export interface Judged {
  readonly object: ManifestObject;
  readonly stored: JsonObject | undefined;
  readonly ownership: Ownership;
}

export async function judgeObjects(
  { parts, installation }: Pick<InstallPlan, "parts" | "installation">,
  resources: Pick<Resources, "read">,
): Promise<readonly Judged[]> {
  const judged: Judged[] = [];
  for (const part of parts) {
    const found: (JsonObject | undefined)[] = [];
    for (const object of part) found.push(await resources.read(object));
    const named = namespacesNamedBy(found);
    for (const [index, object] of part.entries())
      judged.push({ object, stored: found[index], ownership: ownershipOf(found[index], installation, named) });
  }
  return judged;
}

export const ownerOf = ({ ownership }: Judged): string | undefined =>
  ownership.kind === "foreign" ? ownership.owner : undefined;

const namedMax = 5;

/** Refused before anything is written: --apply would take the objects away from whoever uses them. */
export function refuseForeign(judged: readonly Judged[], namespace: string): void {
  const foreign = judged.filter((one) => ownerOf(one) !== undefined);
  if (foreign.length === 0) return;
  const named = foreign.slice(0, namedMax).map((one) => `${describe(one.object)} belongs to ${ownerOf(one)}`);
  const more = foreign.length > namedMax ? `; and ${foreign.length - namedMax} more` : "";
  throw new Fault(
    "FailedPrecondition",
    withCode(
      `objects of the installation in namespace ${namespace} belong to somebody else: ${named.join("; ")}${more}; nothing was changed; give --namespace of the installation that you mean, or remove the other one first; --adopt takes the objects over`,
      "SNAP-804",
    ),
  );
}

export const servicesOf = (objects: readonly ManifestObject[]): readonly ServiceName[] =>
  objects
    .filter(({ kind }) => kind === "Service")
    .map(({ metadata: { name, namespace = "default" } }) => ({ name, namespace }));

/** Whoever has applied them. */
export async function askingConfigurations(
  services: readonly ServiceName[],
  resources: Pick<Resources, "list">,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (const kind of ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
    for (const stored of await resources.list("admissionregistration.k8s.io/v1", kind))
      if (asksService(stored, services)) found.push({ ...stored, apiVersion: "admissionregistration.k8s.io/v1", kind });
  return found;
}
