/**
 * Whether a claim may use the source that it names. There are three values, and none of them can stand for another:
 *
 *   none      the source is in the claim's namespace and named without it: nobody has to consent
 *   allowed   a ReferenceGrant in the namespace of the source names both sides
 *   denied    anything else: no grant, the feature is off, grants cannot be read
 *
 * A handle is given only to who can show the first or the second (restore-rules.ts). What is denied says the same whatever is in the
 * other namespace: nobody learns from it whether the source exists, is ready, or belongs to which driver.
 */
import type { CodedMessage } from "../api/plan.ts";
import type { ReferenceGrant } from "../api/types.ts";
import { type ErrorCode, fix, withCode } from "../errors/codes.ts";
import { grantToOf, type NamedSource, objectKindOf } from "./data-source.ts";
import type { GrantFrom, GrantTo } from "./reference-grant.ts";

/** Only this file makes the values that open a source. */
declare const proof: unique symbol;
export type Permitted =
  | { readonly kind: "none"; readonly [proof]: true }
  | { readonly kind: "allowed"; readonly from: GrantFrom; readonly to: GrantTo; readonly [proof]: true };
export type Denied = { readonly kind: "denied"; readonly why: "no grant" | "off" | "unreadable" };
export type Access = Permitted | Denied;

/** What is known of grants. */
export interface GrantFacts {
  /** Whether references of this kind are followed at all. */
  isOn(referrer: GrantFrom): boolean;
  /** Undefined: grants are not served, or may not be read. */
  readonly find: ((from: GrantFrom, to: GrantTo) => ReferenceGrant | undefined) | undefined;
}

export function accessTo(source: NamedSource, { isOn, find }: GrantFacts): Access {
  const { referrer } = source;
  if (referrer === undefined) return { kind: "none" } as Permitted;
  if (!isOn(referrer)) return { kind: "denied", why: "off" };
  if (find === undefined) return { kind: "denied", why: "unreadable" };
  const to = grantToOf(source);
  return find(referrer, to) === undefined
    ? { kind: "denied", why: "no grant" }
    : ({ kind: "allowed", from: referrer, to } as Permitted);
}

/** What the user of the claim reads. It repeats what the claim says, and adds nothing about the other namespace. */
export function denialOf(
  source: NamedSource,
  { why }: Denied,
): { readonly code: ErrorCode; readonly message: CodedMessage } {
  const named = `${objectKindOf(source)} ${source.namespace}/${source.name}`;
  switch (why) {
    case "off":
      return coded(
        "SNAP-336",
        `the source ${named} is named with its namespace, and such sources are off: ${fix("SNAP-336", switchOf(source.referrer))}; the claim is not filled with an empty volume instead`,
      );
    case "unreadable":
      return coded(
        "SNAP-362",
        `the source ${named} is named with its namespace, and csi-provisioner cannot read ReferenceGrants: ${fix("SNAP-362", "their CRD", "its role")}`,
      );
    default:
      return coded(
        "SNAP-361",
        `no ReferenceGrant in namespace ${source.namespace} lets ${source.referrer?.kind}s of namespace ${source.referrer?.namespace} use ${named}: ${fix("SNAP-361", `namespace ${source.namespace}`, "one")}`,
      );
  }
}

const switchOf = (referrer: GrantFrom | undefined): string =>
  referrer?.kind === "VolumeSnapshotLink"
    ? "--cross-namespace-snapshot"
    : "the feature gate CrossNamespaceVolumeDataSource";
const coded = (code: ErrorCode, message: string) => ({ code, message: withCode(message, code) });
