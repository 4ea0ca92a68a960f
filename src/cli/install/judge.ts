/** Whose the stored objects of an installation are. Pure. */
import type { Installation, ManifestObject } from "../../api/manifests/component.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { withCode } from "../../errors/codes.ts";
import { namespacesNamedBy, type Ownership, ownershipOf } from "./ownership.ts";
import { describe } from "./selection.ts";

/** An object as it would be applied, and as it is stored. */
export interface Found {
  readonly object: ManifestObject;
  readonly stored: JsonObject | undefined;
}

export interface Judged extends Found {
  readonly ownership: Ownership;
}

/** The objects of one component say together whose it is. */
export const judgeParts = (
  parts: readonly (readonly Found[])[],
  installation: Pick<Installation, "namespace" | "driverNamespace">,
): readonly Judged[] =>
  parts.flatMap((part) => {
    const named = namespacesNamedBy(part.map(({ stored }) => stored));
    return part.map((found) => ({ ...found, ownership: ownershipOf(found.stored, installation, named) }));
  });

export const ownerOf = ({ ownership }: Judged): string | undefined =>
  ownership.kind === "foreign" ? ownership.owner : undefined;

const namedMax = 5;

/** Why --apply is refused: it would take the objects away from whoever uses them. */
export function foreignProblem(judged: readonly Judged[], namespace: string): CodedMessage | undefined {
  const foreign = judged.filter((one) => ownerOf(one) !== undefined);
  if (foreign.length === 0) return undefined;
  const named = foreign.slice(0, namedMax).map((one) => `${describe(one.object)} belongs to ${ownerOf(one)}`);
  const more = foreign.length > namedMax ? `; and ${foreign.length - namedMax} more` : "";
  return withCode(
    `objects of the installation in namespace ${namespace} belong to somebody else: ${named.join("; ")}${more}; nothing was changed; give --namespace of the installation that you mean, or remove the other one first; --adopt takes the objects over`,
    "SNAP-804",
  );
}
