/** The CreateVolume call that a claim asks for now, with all that is stored of it before it is sent. */
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { withCode } from "../../rules/error-codes.ts";
import { cloneSource, restoreSource } from "../../rules/restore-rules.ts";
import { attributesClassOf, classNameOf, requestedBytes } from "./claim.ts";
import type { Intent } from "./intent.ts";
import type { VolumeFacts, VolumeView } from "./observe.ts";
import type { ProvisionerAction } from "./plan-steps.ts";
import { type JudgedSource, type Prepared, prepareCreate } from "./prepare.ts";

/** What has to be read first. */
type ReadAction = Extract<ProvisionerAction, { readonly kind: "readSnapshot" | "readAttributes" }>;

export type Request =
  | { readonly kind: "intent"; readonly intent: Intent }
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
  if (source.kind === "snapshot" && source.isUnread)
    return { kind: "unread", read: { kind: "readSnapshot", key: source.key } };
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
      return restoreSource({
        claim,
        requestedBytes: bytes,
        driver: driver.name,
        snapshotKey: source.key,
        snapshot: source.snapshot,
        content: source.content,
        isStarted,
        preventsModeChange: options.preventVolumeModeConversion,
      });
    case "claim":
      return cloneSource({
        claim,
        requestedBytes: bytes,
        driver: driver.name,
        sourceKey: source.key,
        source: source.claim,
        volume: source.volume,
        isStarted,
      });
    case "otherNamespace":
      return {
        kind: "wrong",
        code: "SNAP-336",
        message: withCode(
          `spec.dataSourceRef.namespace is ${source.namespace}: restores from other namespaces are off, and the claim is not filled with an empty volume instead`,
          "SNAP-336",
        ),
      };
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
    call,
    secrets,
    ...(reclaimPolicy === undefined ? {} : { reclaimPolicy }),
    ...(mountOptions === undefined ? {} : { mountOptions }),
    ...(attributesClass === undefined ? {} : { attributesClass }),
    ...(facts.source.kind === "snapshot" ? { snapshotKey: facts.source.key } : {}),
    ...(facts.source.kind === "claim" ? { claimKey: facts.source.key } : {}),
  };
}
