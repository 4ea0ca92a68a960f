/**
 * Why an object waits that breaks a rule about snapshots, by the code of the rule's message, and which object has to change first.
 * snapshot-controller and csi-snapshotter read the same rows: a snapshot whose content has an error waits for the same reason.
 */
import type { Ref } from "../api/plan.ts";
import type { ReasonCode } from "../api/reasons.ts";
import type { VolumeSnapshotContent } from "../api/types.ts";
import { codeIn, type ErrorCode } from "../errors/codes.ts";
import { notedSecretOf } from "./snapshotter-secrets.ts";

/** What has to change before the object can go on. object: the object itself. */
export type Blocker = "object" | "claim" | "volume" | "class" | "content" | "secret" | "driver";

interface ReasonOfRule {
  readonly reason: ReasonCode;
  readonly blocker: Blocker;
}

/** What keeps a snapshot from its content, or the content from it. */
const snapshotRows = {
  "SNAP-101": { reason: "Invalid", blocker: "object" },
  "SNAP-201": { reason: "ContentLost", blocker: "content" },
  "SNAP-202": { reason: "ContentNotFound", blocker: "content" },
  "SNAP-203": { reason: "ContentNotUsable", blocker: "content" },
  "SNAP-204": { reason: "ContentNotUsable", blocker: "content" },
  "SNAP-211": { reason: "ClassNotFound", blocker: "class" },
  "SNAP-212": { reason: "ClassNotFound", blocker: "object" },
  "SNAP-213": { reason: "ClassNotUsable", blocker: "object" },
  "SNAP-214": { reason: "ClassNotUsable", blocker: "class" },
  "SNAP-221": { reason: "ClaimNotFound", blocker: "claim" },
  "SNAP-222": { reason: "ClaimNotBound", blocker: "claim" },
  "SNAP-223": { reason: "ClaimNotFound", blocker: "claim" },
  "SNAP-224": { reason: "VolumeNotUsable", blocker: "volume" },
  "SNAP-225": { reason: "VolumeNotUsable", blocker: "volume" },
  "SNAP-226": { reason: "VolumeNotUsable", blocker: "volume" },
  "SNAP-227": { reason: "NodeNotUsable", blocker: "volume" },
} as const satisfies Partial<Record<ErrorCode, ReasonOfRule>>;

/** What keeps a group from its content, or from being ready. */
export const groupReasons = {
  "SNAP-261": "Invalid",
  "SNAP-262": "ClaimNotFound",
  "SNAP-263": "VolumeNotUsable",
  "SNAP-264": "VolumeNotUsable",
  "SNAP-265": "ClassNotUsable",
  "SNAP-266": "ContentNotUsable",
  "SNAP-231": "SecretNotUsable",
  "SNAP-232": "SecretNotUsable",
  "SNAP-233": "SecretNotUsable",
} as const satisfies Partial<Record<ErrorCode, ReasonCode>>;

/** What the status of a content tells: what is wrong with it, its class or its secret, and what the driver said. */
const contentRows = {
  "SNAP-111": { reason: "Invalid", blocker: "content" },
  "SNAP-117": { reason: "Invalid", blocker: "content" },
  "SNAP-231": { reason: "SecretNotUsable", blocker: "class" },
  "SNAP-232": { reason: "SecretNotUsable", blocker: "class" },
  "SNAP-233": { reason: "SecretNotUsable", blocker: "class" },
  "SNAP-501": { reason: "DriverFailed", blocker: "driver" },
  "SNAP-503": { reason: "DriverFailed", blocker: "driver" },
  "SNAP-511": { reason: "Invalid", blocker: "object" },
  "SNAP-512": { reason: "Invalid", blocker: "object" },
  "SNAP-513": { reason: "ClassNotFound", blocker: "class" },
  "SNAP-514": { reason: "ClassNotUsable", blocker: "class" },
  "SNAP-515": { reason: "SecretNotUsable", blocker: "object" },
  "SNAP-516": { reason: "SecretNotUsable", blocker: "secret" },
  "SNAP-521": { reason: "DriverFailed", blocker: "driver" },
  "SNAP-531": { reason: "DriverFailed", blocker: "driver" },
  "SNAP-541": { reason: "ClassNotUsable", blocker: "class" },
  "SNAP-542": { reason: "DriverFailed", blocker: "driver" },
  "SNAP-543": { reason: "DriverFailed", blocker: "driver" },
} as const satisfies Partial<Record<ErrorCode, ReasonOfRule>>;

export const reasonsByCode = { ...snapshotRows, ...contentRows };
/** The codes of messages about what keeps a snapshot or a content waiting. */
export type BlockingCode = keyof typeof reasonsByCode;
export type ContentErrorCode = keyof typeof contentRows;

/**
 * What an error in the status of a content means, and the secret that it is about. The errors of other sidecars have no code: they
 * repeat what the driver said.
 */
export function reasonOfError(content: VolumeSnapshotContent, message: string) {
  const code = codeIn(message);
  const isKnown = code !== undefined && Object.hasOwn(contentRows, code);
  const { reason } = contentRows[isKnown ? (code as ContentErrorCode) : "SNAP-501"];
  const { name, namespace } = notedSecretOf(content);
  const secret: readonly Ref[] = code === "SNAP-516" && name ? [{ kind: "Secret", namespace, name }] : [];
  return { reason, secret };
}
