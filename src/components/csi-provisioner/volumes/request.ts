/** The CreateVolume call that a claim asks for now, with all that is stored of it before it is sent. */
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { withCode } from "../../../errors/codes.ts";
import { cloneSource, restoreSource } from "../../../rules/restore-rules.ts";
import { denialOf } from "../../../rules/source-access.ts";
import { attributesClassOf, classNameOf, requestedBytes } from "../claims/claim.ts";
import { type JudgedSource, type Prepared, prepareCreate } from "../claims/prepare.ts";
import type { Consent } from "../driver/call.ts";
import type { ReadAction } from "../plan-steps.ts";
import type { Intent } from "../stored-calls/intent.ts";
import type { VolumeFacts, VolumeView } from "./observe.ts";

export type Request =
  | { readonly kind: "intent"; readonly intent: Intent }
  /** Something has to be read first. */
  | { readonly kind: "unread"; readonly read: ReadAction }
  | Exclude<Prepared, { kind: "call" }>;

export function requestOf(facts: VolumeFacts, claim: PersistentVolumeClaim): Request {
  const { storageClass, source } = facts;
  if (storageClass === undefined)
    return {
      kind: "wrong",
      code: "SNAP-331",
      message: withCode(`StorageClass ${classNameOf(claim)} does not exist: create it`, "SNAP-331"),
    };
  if (storageClass.provisioner !== facts.driver.name)
    return {
      kind: "wrong",
      code: "SNAP-340",
      message: withCode(
        `StorageClass ${storageClass.metadata.name} belongs to provisioner ${storageClass.provisioner}, the claim is annotated for ${facts.driver.name}: create a claim with a StorageClass of ${facts.driver.name}`,
        "SNAP-340",
      ),
    };
  if (source.kind === "snapshot" && source.isUnread)
    return {
      kind: "unread",
      read: {
        kind: "readSnapshot",
        key: source.key,
        ...(source.access.kind === "allowed" ? { attempt: facts.name } : {}),
      },
    };
  const attributesClass = attributesClassOf(facts.options, claim);
  if (attributesClass !== undefined && facts.attributes === undefined)
    return { kind: "unread", read: { kind: "readAttributes", name: attributesClass } };
  const prepared = prepareCreate({ ...facts, claim, storageClass, source: judgedSource({ facts }, claim) });
  return prepared.kind === "call" ? { kind: "intent", intent: intentFor(facts, claim, prepared) } : prepared;
}

function judgedSource({ facts }: Pick<VolumeView, "facts">, claim: PersistentVolumeClaim): JudgedSource {
  const { source, driver, options, intent } = facts;
  const bytes = requestedBytes(claim) ?? 0n;
  const isStarted = intent !== undefined;
  switch (source.kind) {
    case "snapshot":
      if (source.access.kind === "denied") return { kind: "wrong", ...denialOf(source.named, source.access) };
      return restoreSource({
        claim,
        access: source.access,
        requestedBytes: bytes,
        driver: driver.name,
        snapshotKey: source.key,
        link: source.named.link?.name,
        snapshot: source.snapshot,
        content: source.content,
        isStarted,
        preventsModeChange: options.preventVolumeModeConversion,
      });
    case "claim":
      if (source.access.kind === "denied") return { kind: "wrong", ...denialOf(source.named, source.access) };
      return cloneSource({
        claim,
        access: source.access,
        requestedBytes: bytes,
        driver: driver.name,
        sourceKey: source.key,
        source: source.claim,
        volume: source.volume,
        isStarted,
      });
    case "unlinked":
      return { kind: "wrong", ...unlinked(source) };
    case "nameless":
      return { kind: "wrong", code: "SNAP-133", message: withCode("spec.dataSource has no name", "SNAP-133") };
    default:
      return { kind: "none" };
  }
}

function intentFor(
  facts: VolumeFacts,
  claim: PersistentVolumeClaim,
  { call, secrets }: Extract<Prepared, { kind: "call" }>,
): Intent {
  const { namespace = "", name, uid } = claim.metadata;
  const attributesClass = attributesClassOf(facts.options, claim);
  const { reclaimPolicy, mountOptions } = facts.storageClass ?? {};
  return {
    claim: { namespace, name, uid },
    call: { ...call, ...consentFor(facts.source) },
    secrets,
    ...(reclaimPolicy === undefined ? {} : { reclaimPolicy }),
    ...(mountOptions === undefined ? {} : { mountOptions }),
    ...(attributesClass === undefined ? {} : { attributesClass }),
    ...(facts.source.kind === "snapshot" ? { snapshotKey: facts.source.key } : {}),
    ...(facts.source.kind === "claim" ? { claimKey: facts.source.key } : {}),
  };
}

function consentFor(source: VolumeFacts["source"]): { readonly consent?: Consent } {
  if (!("access" in source) || source.access.kind !== "allowed") return {};
  const { from, to } = source.access;
  const object = source.kind === "snapshot" ? source.snapshot : source.claim;
  const { link } = source.named;
  return { consent: { from, to, uid: object?.metadata.uid ?? "", ...(link === undefined ? {} : { link }) } };
}

/** The link is in the claim's own namespace: its user may know of it. */
export function unlinked({ key, why }: Extract<VolumeFacts["source"], { readonly kind: "unlinked" }>) {
  const named = `VolumeSnapshotLink ${key}`;
  const [code, message] = (
    {
      missing: ["SNAP-363", `${named} does not exist: create it, or correct spec.dataSourceRef.name in a new claim`],
      distant: [
        "SNAP-365",
        `${named} is named with its namespace, and links are followed only by their name, in the namespace of the claim: leave spec.dataSourceRef.namespace out in a new claim, and create the link beside it`,
      ],
      empty: ["SNAP-363", `${named} names no VolumeSnapshot: set spec.source.name in a new link`],
      unreadable: [
        "SNAP-364",
        `${named} cannot be read: install the CRD of VolumeSnapshotLinks, and let the role of csi-provisioner get, list and watch volumesnapshotlinks.snapshot.storage.k8s.io`,
      ],
    } as const
  )[why];
  return { code, message: withCode(message, code) };
}
