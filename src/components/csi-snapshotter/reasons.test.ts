/** Why a content is where it is, as its sidecar sees it: the code, the sentence, what it waits for, and since when. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, driver } from "../../../test/builders.ts";
import {
  aYoungView,
  beingCreated,
  deletionTimestamp,
  failure,
  info,
  ready,
  taken,
  terminating,
} from "../../../test/content-plans.ts";
import type { ContentSituation } from "../../../test/views.ts";
import { annotations, parameters } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { noMemory } from "./memory.ts";
import { planContent } from "./plan.ts";
import { type SidecarReason, sidecarReasonCodes } from "./reasons.ts";

type Metadata = Partial<VolumeSnapshotContent["metadata"]>;

interface Row {
  readonly given: string;
  readonly view: Partial<ContentSituation>;
  /** The plan of somebody who remembers nothing. */
  readonly isForgotten?: true;
  readonly code: SidecarReason["code"];
  readonly says: RegExp;
  readonly waitsFor?: readonly string[];
  readonly since?: string;
}

const bornAt = "2026-01-01T00:00:00Z";
const takenAt = "2026-01-01T00:00:01.123Z";
const errorAt = "2026-01-01T00:30:00Z";
const nextAttempt = /; the next attempt is at 2026-01-01T00:00:06Z$/;
const monday = "VolumeSnapshot team/monday";
const key = "Secret vault/key";

const of = (spec: Partial<VolumeSnapshotContent["spec"]>, metadata: Metadata = {}) => ({
  content: aContent({ spec, metadata }),
});
const pending = { ...ready, readyToUse: false };
const withError = (message: string, metadata: Metadata = {}, status: object = {}) => ({
  content: aContent({ metadata, status: { readyToUse: false, ...status, error: { message, time: errorAt } } }),
});
const unread: ContentSituation["reply"] = {
  kind: "unsent",
  fault: new Fault("NotFound", "secret vault/key not found"),
};
const noted = {
  annotations: { [annotations.deletionSecretName]: "key", [annotations.deletionSecretNamespace]: "vault" },
};
const giveUp = (metadata: Metadata): Metadata => ({
  ...terminating,
  ...metadata,
  annotations: { ...terminating.annotations, ...metadata.annotations },
});
const imported = { source: { snapshotHandle: "s-9" } };
const listing = aClass({
  parameters: {
    [parameters.snapshotterListSecretName]: "key",
    [parameters.snapshotterListSecretNamespace]: "vault",
  },
});

const rows: readonly Row[] = [
  { given: "a content of another driver", view: of({ driver: "tape" }), code: "NotOurs", says: /of driver tape/ },
  {
    given: "a content of a class of another driver",
    view: { snapshotClass: aClass({ driver: "tape" }) },
    code: "ClassNotUsable",
    says: /class fast is for driver tape, and spec\.driver of the content is disk\.example\.com/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a deleted content of a class of another driver",
    view: { snapshotClass: aClass({ driver: "tape" }), content: aContent({ metadata: terminating, status: ready }) },
    code: "ClassNotUsable",
    says: /class fast is for driver tape/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a ready content whose class was created anew for another driver",
    view: { snapshotClass: aClass({ driver: "tape" }), content: aContent({ status: ready }) },
    code: "NotOurs",
    says: /class fast is for driver tape/,
  },
  {
    given: "a content with two sources",
    view: of({ source: { volumeHandle: "v", snapshotHandle: "s" } }),
    code: "NotOurs",
    says: /spec\.source does not name one source/,
  },
  {
    given: "a member of a group",
    view: of({}, { annotations: { [annotations.groupSnapshotHandle]: "g" } }),
    code: "NotOurs",
    says: /group/,
  },
  {
    given: "a new content",
    view: {},
    code: "WaitsForDriver",
    says: new RegExp(`^CreateSnapshot is sent to driver ${driver}, and no reply has come yet$`),
    since: bornAt,
  },
  {
    given: "a content read from a cluster by somebody who remembers nothing",
    view: of({}, beingCreated),
    isForgotten: true,
    code: "WaitsForDriver",
    says: /^CreateSnapshot is sent/,
    since: bornAt,
  },
  {
    given: "a content that may lose its annotation any moment",
    view: { ...of({}, beingCreated), isRemovalPending: true },
    code: "Writes",
    says: /may still arrive/,
  },
  {
    given: "a content whose snapshot is taken and ready",
    view: { ...of({}, beingCreated), reply: taken },
    code: "Writes",
    says: new RegExp(`^snapshot "s-1" of driver ${driver} is ready`),
  },
  {
    given: "a content whose snapshot is taken and not ready",
    view: { ...of({}, beingCreated), reply: { kind: "taken", snapshot: { ...info, ready: false } } },
    code: "WaitsForDriver",
    says: /has taken snapshot "s-1", and it is not ready; the next attempt is at/,
    since: takenAt,
  },
  {
    given: "the same, read from a cluster by somebody who remembers nothing",
    view: { content: aContent({ status: pending }) },
    isForgotten: true,
    code: "WaitsForDriver",
    says: /has taken snapshot "s-1", and is asked whether it is ready$/,
    since: takenAt,
  },
  {
    given: "a content with a handle and without its time",
    view: { content: aContent({ status: { snapshotHandle: "s-1", readyToUse: false } }) },
    code: "WaitsForDriver",
    says: /has taken snapshot "s-1"/,
  },
  {
    given: "a content with the being-created annotation whose snapshot is ready",
    view: { content: aContent({ metadata: beingCreated, status: ready }) },
    code: "Writes",
    says: /being-created annotation is removed/,
  },
  {
    given: "a content whose snapshot is ready",
    view: { content: aContent({ status: ready }) },
    code: "Settled",
    says: /is ready/,
  },
  {
    given: "a content for which the driver fails",
    view: { ...of({}, beingCreated), reply: failure("InvalidArgument") },
    code: "DriverFailed",
    says: nextAttempt,
  },
  {
    given: "the same, when its status shows the error, with another number in it",
    view: {
      ...withError(
        'Failed to create snapshot: failed to take snapshot of the volume vol-1: "no 1" [SNAP-501]',
        beingCreated,
      ),
      reply: { kind: "failed", fault: new Fault("Internal", "no 2") },
    },
    code: "DriverFailed",
    says: /"no 2" \[SNAP-501\]; the next attempt/,
    since: errorAt,
  },
  {
    given: "a content for which the driver failed, while the call is repeated",
    view: withError('Failed to create snapshot: "pool is full" [SNAP-501]', beingCreated),
    code: "DriverFailed",
    says: /^CreateSnapshot is sent to driver \S+ again; the last error: .*pool is full/,
    since: errorAt,
  },
  {
    given: "a driver that answers another handle",
    view: { content: aContent({ status: pending }), reply: { kind: "taken", snapshot: { ...info, handle: "s-2" } } },
    code: "DriverFailed",
    says: /answered handle "s-2" for a snapshot it called "s-1"/,
  },
  {
    given: "a call without a reply in time",
    view: { ...of({}, beingCreated), reply: failure("DeadlineExceeded") },
    code: "OutcomeUnknown",
    says: /the outcome is not known .*; the next attempt is at/,
  },
  {
    given: "a content without the uid of its snapshot",
    view: of({ volumeSnapshotRef: { namespace: "team", name: "monday" } }),
    code: "Invalid",
    says: /spec\.volumeSnapshotRef\.uid is not set/,
  },
  {
    given: "a content whose class is gone",
    view: { snapshotClass: undefined },
    code: "ClassNotFound",
    says: /volumesnapshotclass "fast" not found/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a class with an unknown parameter",
    view: { snapshotClass: aClass({ parameters: { [`${parameters.prefix}odd`]: "x" } }) },
    code: "ClassNotUsable",
    says: /unknown parameter key/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a content that names its secret by half",
    view: of({}, { annotations: { [annotations.deletionSecretName]: "key" } }),
    code: "SecretNotUsable",
    says: /deletion-secret-namespace of content snapcontent-uid-snap is missing/,
  },
  {
    given: "a content whose secret cannot be read",
    view: { ...of({}, noted), reply: unread },
    code: "SecretNotUsable",
    says: /secret vault\/key not found \[SNAP-516\]; the next attempt/,
    waitsFor: [key],
  },
  {
    given: "the same, read from a cluster by somebody who remembers nothing",
    view: withError("Failed to create snapshot: secret vault/key not found [SNAP-516]", noted),
    isForgotten: true,
    code: "SecretNotUsable",
    says: /the last error: .*vault\/key/,
    waitsFor: [key],
    since: errorAt,
  },
  {
    given: "a content that was imported",
    view: of(imported),
    code: "WaitsForDriver",
    says: /^ListSnapshots is sent to driver/,
    since: bornAt,
  },
  {
    given: "a content that was imported, whose driver is away",
    view: { ...of(imported), canListSnapshots: undefined },
    code: "WaitsForDriver",
    says: new RegExp(`^driver ${driver} cannot be reached`),
  },
  {
    given: "an imported handle that the driver does not have",
    view: { ...of(imported), reply: failure("NotFound") },
    code: "DriverFailed",
    says: /\[SNAP-521\]; the next attempt/,
  },
  {
    given: "an imported content whose ListSnapshots has no reply in time, which changes nothing",
    view: { ...of(imported), reply: failure("DeadlineExceeded") },
    code: "DriverFailed",
    says: /\[SNAP-521\]/,
  },
  {
    given: "an imported content whose secret cannot be read",
    view: { ...of(imported), snapshotClass: listing, reply: unread },
    code: "SecretNotUsable",
    says: /\[SNAP-516\]/,
    waitsFor: [key],
  },
  {
    given: "an imported content whose class names a secret by half",
    view: { ...of(imported), snapshotClass: aClass({ parameters: { [parameters.snapshotterListSecretName]: "key" } }) },
    code: "SecretNotUsable",
    says: /\[SNAP-231\]/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a ready content that is deleted while its snapshot exists",
    view: { content: aContent({ metadata: { deletionTimestamp }, status: ready }) },
    code: "WaitsForDeletionConfirmed",
    says: /^VolumeSnapshot team\/monday has not given up the content/,
    waitsFor: [monday],
    since: deletionTimestamp,
  },
  {
    given: "a deleted content",
    view: { content: aContent({ metadata: terminating, status: ready }) },
    code: "WaitsForDriver",
    says: /^DeleteSnapshot is sent to driver/,
    since: deletionTimestamp,
  },
  {
    given: "a deleted content with an error of its creation",
    view: withError('"no space" [SNAP-501]', terminating, { snapshotHandle: "s-1" }),
    code: "WaitsForDriver",
    says: /^DeleteSnapshot is sent to driver \S+, and no reply/,
    since: deletionTimestamp,
  },
  {
    given: "a deleted content that the driver did not delete, while the call is repeated",
    view: withError('"in use" [SNAP-531]', terminating, { ...ready }),
    code: "DriverFailed",
    says: /^DeleteSnapshot is sent to driver \S+ again; the last error: "in use"/,
    since: errorAt,
  },
  {
    given: "a deleted content that the driver does not delete",
    view: { content: aContent({ metadata: terminating, status: ready }), reply: failure("FailedPrecondition") },
    code: "DriverFailed",
    says: /\[SNAP-531\]; the next attempt/,
  },
  {
    given: "a DeleteSnapshot without a reply in time",
    view: { content: aContent({ metadata: terminating, status: ready }), reply: failure("DeadlineExceeded") },
    code: "OutcomeUnknown",
    says: /\[SNAP-531\]; the next attempt/,
  },
  {
    given: "a deletion whose secret cannot be read",
    view: { content: aContent({ metadata: giveUp(noted), status: ready }), reply: unread },
    code: "SecretNotUsable",
    says: /Failed to get snapshot credentials: .*vault\/key/,
    waitsFor: [key],
  },
  {
    given: "a deletion before CreateSnapshot had a reply",
    view: of({}, giveUp(beingCreated)),
    code: "OutcomeUnknown",
    says: /^CreateSnapshot is sent to driver \S+ again: an earlier call may have taken the snapshot/,
    since: deletionTimestamp,
  },
  {
    given: "a deletion without a clear source, and with a handle",
    view: { content: aContent({ metadata: giveUp(beingCreated), status: pending, spec: { source: {} } }) },
    code: "Writes",
    says: /the handle is known/,
  },
  {
    given: "a deletion without a clear source, and without a handle",
    view: of({ source: {} }, giveUp(beingCreated)),
    code: "Released",
    says: /is let go: spec\.source no longer names the one volume/,
  },
  {
    given: "a deletion that the driver has done",
    view: { content: aContent({ metadata: terminating, status: ready }), reply: { kind: "deleted" } },
    code: "Released",
    says: new RegExp(`^driver ${driver} has deleted snapshot "s-1"`),
  },
  {
    given: "a deletion with Retain",
    view: { content: aContent({ metadata: terminating, status: ready, spec: { deletionPolicy: "Retain" } }) },
    code: "Released",
    says: /retains the snapshot/,
  },
  {
    given: "a deletion of a member of a group",
    view: { content: aContent({ metadata: terminating, status: { ...ready, volumeGroupSnapshotHandle: "g" } }) },
    code: "Released",
    says: /belongs to a group snapshot/,
  },
  {
    given: "a deletion before anything was taken",
    view: of({}, terminating),
    code: "Released",
    says: /no snapshot was taken/,
  },
  {
    given: "a deletion of an imported content that the driver never confirmed",
    view: of(imported, terminating),
    code: "Released",
    says: /never confirmed/,
  },
];

const idOf = ({ kind, namespace, name }: Ref): string => `${kind} ${keyIn(namespace, name)}`;
for (const { given, view: situation, isForgotten, code, says, waitsFor = [], since } of rows)
  test(`given ${given}, the reason is ${code}`, () => {
    const view = aYoungView(situation);
    const { reason } = planContent(isForgotten ? { ...view, memory: noMemory } : view);
    assert.equal(reason.code, code);
    assert.match(reason.says, says);
    assert.deepEqual(reason.waitsFor.map(idOf), waitsFor);
    assert.equal(reason.sinceMs, since === undefined ? undefined : Date.parse(since));
  });

test("each reason of the component is the reason of a row", () => {
  const reached = new Set(rows.map(({ code }) => code));
  assert.deepEqual(
    sidecarReasonCodes.filter((code) => !reached.has(code)),
    [],
  );
});
