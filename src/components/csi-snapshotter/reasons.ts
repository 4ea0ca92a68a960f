/**
 * Why the plan of a content does what it does, and what the content waits for. What is wrong is said in the words of its message, and the
 * code of that message tells the reason (rules/snapshot-reasons.ts), as it does for the snapshot-controller.
 */
import { annotations } from "../../api/names.ts";
import type { CodedMessage, Ref } from "../../api/plan.ts";
import { because, type Reason, type ReasonCode } from "../../api/reasons.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import type { Fault } from "../../base/fault.ts";
import { printable } from "../../base/printable.ts";
import { isSameError } from "../../base/same-error.ts";
import { millisOf, rfc3339 } from "../../base/time.ts";
import { codeIn } from "../../errors/codes.ts";
import type { SecretRef } from "../../rules/secret-template.ts";
import { type ContentErrorCode, reasonOfError, reasonsByCode } from "../../rules/snapshot-reasons.ts";
import type { ContentFacts, ContentView } from "./observe.ts";
import type { SnapshotCall } from "./plan-calls.ts";
import type { SnapshotInfo } from "./reply.ts";

/** The reasons that this component has; a test reaches each. */
export const sidecarReasonCodes = [
  "Settled",
  "NotOurs",
  "Writes",
  "Released",
  "Invalid",
  "ClassNotFound",
  "ClassNotUsable",
  "SecretNotUsable",
  "WaitsForDriver",
  "DriverFailed",
  "OutcomeUnknown",
  "WaitsForDeletionConfirmed",
] as const satisfies readonly ReasonCode[];

export interface SidecarReason extends Reason {
  readonly code: (typeof sidecarReasonCodes)[number];
}

export const why = (
  code: SidecarReason["code"],
  says: string,
  waitsFor: readonly Ref[] = [],
  sinceMs?: Millis,
): SidecarReason => ({ ...because(code, printable(says), waitsFor, sinceMs), code });

const classRef = ({ spec }: VolumeSnapshotContent): readonly Ref[] =>
  spec.volumeSnapshotClassName ? [{ kind: "VolumeSnapshotClass", name: spec.volumeSnapshotClassName }] : [];

/** A content that this sidecar leaves alone. */
export function foreign({ content, snapshotClass, driver }: ContentFacts): SidecarReason {
  const { spec, status, metadata } = content;
  if (spec.driver !== driver) return why("NotOurs", `the content is of driver ${spec.driver}`);
  if (snapshotClass !== undefined && snapshotClass.driver !== driver) {
    const says = `class ${snapshotClass.metadata.name} is for driver ${snapshotClass.driver}, and spec.driver of the content is ${driver}`;
    const isAtRest = status?.readyToUse === true && metadata.deletionTimestamp === undefined;
    // The other driver's sidecar does not serve it either: it goes by spec.driver.
    return isAtRest ? why("NotOurs", says) : why("ClassNotUsable", says, classRef(content));
  }
  return metadata.annotations?.[annotations.groupSnapshotHandle] === undefined
    ? why("NotOurs", "spec.source does not name one source: the snapshot-controller reports that")
    : why("NotOurs", "the content is a member of a group snapshot");
}

const calls = { create: "CreateSnapshot", delete: "DeleteSnapshot", list: "ListSnapshots" } as const satisfies Record<
  SnapshotCall["method"],
  string
>;

/** Errors of what comes before the deletion: they say nothing about DeleteSnapshot. */
const beforeDeletion: ReadonlySet<string | undefined> = new Set([
  "SNAP-501",
  "SNAP-503",
  "SNAP-511",
  "SNAP-512",
  "SNAP-513",
  "SNAP-514",
  "SNAP-521",
] satisfies readonly ContentErrorCode[]);

/** A call is sent. Until its reply, what the status says of the last one stays the reason. */
export function asked({ content, driver }: ContentFacts, { method }: SnapshotCall): SidecarReason {
  const { metadata, status } = content;
  const what = `${calls[method]} is sent to driver ${driver}`;
  const { message, time } = status?.error ?? {};
  if (message !== undefined && !(method === "delete" && beforeDeletion.has(codeIn(message)))) {
    const { reason, secret } = reasonOfError(content, message);
    return why(reason, `${what} again; the last error: ${message}`, secret, millisOf(time));
  }
  if (method === "create" && status?.snapshotHandle)
    return why(
      "WaitsForDriver",
      `driver ${driver} has taken snapshot "${status.snapshotHandle}", and is asked whether it is ready`,
      [],
      status.creationTime === undefined ? undefined : Math.floor(Number(status.creationTime) / 1_000_000),
    );
  if (method === "create" && metadata.annotations?.[annotations.beingDeleted] === "yes")
    return why(
      "OutcomeUnknown",
      `${what} again: an earlier call may have taken the snapshot, and only its reply tells what is to be deleted`,
      [],
      millisOf(metadata.deletionTimestamp),
    );
  const since = method === "delete" ? metadata.deletionTimestamp : metadata.creationTimestamp;
  return why("WaitsForDriver", `${what}, and no reply has come yet`, [], millisOf(since));
}

/** The driver has taken the snapshot and still works on it. */
export const notReady = (view: ContentView, { handle, creationTimeNs }: SnapshotInfo): SidecarReason =>
  why(
    "WaitsForDriver",
    `driver ${view.facts.driver} has taken snapshot "${handle}", and it is not ready${retryOf(view)}`,
    [],
    Number(creationTimeNs / 1_000_000n),
  );

/** What a rule or the driver's reply says is wrong. `secret` is the one that could not be read. */
export function wrong(
  view: ContentView,
  code: ContentErrorCode,
  message: CodedMessage,
  secret?: SecretRef,
): SidecarReason {
  const { content } = view.facts;
  const { reason, blocker } = reasonsByCode[code];
  const secrets: readonly Ref[] = secret === undefined ? [] : [{ kind: "Secret", ...secret }];
  const waitsFor = { class: classRef(content), secret: secrets, driver: [], object: [], content: [] }[blocker];
  return why(reason, `${message}${retryOf(view)}`, waitsFor, shownSince(content, message));
}

/** A call has had no answer, and may have had its effect. */
export const outcomeUnknown = (view: ContentView, message: CodedMessage): SidecarReason =>
  why("OutcomeUnknown", `${message}${retryOf(view)}`, [], shownSince(view.facts.content, message));

export const hasUnknownOutcome = ({ code }: Fault): boolean =>
  code === "DeadlineExceeded" || code === "Cancelled" || code === "UnknownOutcome";

/** Since when the status shows this error. */
const shownSince = ({ status }: VolumeSnapshotContent, message: CodedMessage): Millis | undefined =>
  isSameError(status?.error?.message ?? "", message) ? millisOf(status?.error?.time) : undefined;

const retryOf = ({ memory: { replyLeftMs }, nowMs }: ContentView): string =>
  replyLeftMs > 0 && Number.isFinite(replyLeftMs) ? `; the next attempt is at ${rfc3339(nowMs + replyLeftMs)}` : "";

/** A content that a user deletes waits for its snapshot, as long as that exists. */
export function notGivenUp({ metadata, spec }: VolumeSnapshotContent): SidecarReason {
  const { namespace, name = "", uid } = spec.volumeSnapshotRef ?? {};
  return why(
    "WaitsForDeletionConfirmed",
    `VolumeSnapshot ${keyIn(namespace, name)} has not given up the content, which is being deleted`,
    [{ kind: "VolumeSnapshot", namespace, name, uid }],
    millisOf(metadata.deletionTimestamp),
  );
}
