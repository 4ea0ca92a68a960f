/** Wrong decisions of the sidecar. */
import { annotations } from "../../../src/api/names.ts";
import { Fault, isFinal } from "../../../src/base/fault.ts";
import { isObject } from "../../../src/base/json.ts";
import { type Bug, inSidecar, patches, withContent } from "./bug.ts";

const touches = (body: { metadata: { annotations?: unknown } }, name: string): boolean =>
  isObject(body.metadata.annotations) && name in body.metadata.annotations;

export const sidecarBugs: readonly Bug[] = [
  {
    name: "calls CreateSnapshot before the being-created annotation is stored",
    source: "provisioner#486, #134",
    scenario: "dynamic-create",
    breaks: ["I-2"],
    seedsMax: 5,
    sabotage: () =>
      inSidecar({
        plan: (plan) => ({
          ...plan,
          actions: plan.actions.map((action) => (action.kind === "csi" ? { ...action, intent: [] } : action)),
        }),
      }),
  },
  {
    name: "takes its id on a content as proof that no call was made",
    source: "a predecessor's mark under our name; found by seed 1137",
    scenario: "quick-delete",
    breaks: ["I-3", "I-6"],
    seedsMax: 60,
    sabotage: () =>
      inSidecar({
        memory: (memory, { content }) =>
          content.metadata.annotations?.[annotations.snapshotterId] === memory.attempt.sidecarId
            ? { ...memory, attempt: { ...memory.attempt, createSent: "never" } }
            : memory,
      }),
  },
  {
    name: "treats a predecessor's being-created annotation as its own",
    source: "lifecycle step left out",
    scenario: "delete",
    breaks: ["I-3", "I-4", "I-6"],
    seedsMax: 130,
    sabotage: () =>
      inSidecar({
        memory: (memory, { content }) => {
          const sidecarId = content.metadata.annotations?.[annotations.snapshotterId];
          return sidecarId === undefined || sidecarId === memory.attempt.sidecarId
            ? memory
            : { ...memory, attempt: { ...memory.attempt, sidecarId, createSent: "never" } };
        },
      }),
  },
  {
    name: "treats an unknown outcome as a failure",
    source: "A3-1: #134, #261, ceph-csi#446",
    scenario: "quick-delete",
    breaks: ["I-3", "I-6"],
    seedsMax: 60,
    sabotage: () =>
      inSidecar({
        memory: (memory) =>
          memory.reply.kind === "failed" && !isFinal(memory.reply.fault)
            ? { ...memory, reply: { kind: "failed", fault: new Fault("Internal", memory.reply.fault.message) } }
            : memory,
      }),
  },
  {
    name: "rejects an odd reply completely, including its handle",
    source: "a creation time of zero, found on real drivers",
    scenario: "odd-driver-negative-size",
    breaks: ["I-3", "I-6", "I-15", "I-20"],
    seedsMax: 5,
    sabotage: () =>
      inSidecar({
        memory: (memory) =>
          memory.reply.kind === "taken" && memory.reply.snapshot.oddities.length > 0
            ? { ...memory, reply: { kind: "failed", fault: new Fault("MalformedReply", "odd") } }
            : memory,
      }),
  },
  {
    name: "never releases a content with undecodable replies",
    source: "empty and garbled replies, found on odd drivers",
    scenario: "odd-driver-unreadable-deletions",
    breaks: ["I-15", "I-20"],
    seedsMax: 5,
    sabotage: () => inSidecar({ memory: (memory) => ({ ...memory, malformedReplies: 0 }) }),
  },
  {
    name: "releases a content at the first undecodable reply",
    source: "the exception of I-3 and I-6, taken too far",
    scenario: "odd-driver-no-snapshot",
    breaks: ["I-3"],
    seedsMax: 5,
    sabotage: () => inSidecar({ memory: (memory) => ({ ...memory, malformedReplies: memory.malformedReplies * 5 }) }),
  },
  {
    name: "deletes a handle that the driver never confirmed",
    source: "a pre-provisioned handle that was not found; the Go sidecar sends nothing",
    scenario: "odd-driver-list-of-a-stranger",
    breaks: ["I-4"],
    seedsMax: 5,
    sabotage: () =>
      inSidecar({
        facts: (facts) => {
          const { snapshotHandle } = facts.content.spec.source;
          return snapshotHandle && facts.content.metadata.deletionTimestamp !== undefined
            ? withContent(facts, { status: { ...facts.content.status, snapshotHandle } as never })
            : facts;
        },
      }),
  },
  {
    name: "uses another snapshot name in each call",
    source: "A3-13: #1050",
    scenario: "dynamic-create",
    breaks: ["I-1"],
    seedsMax: 5,
    sabotage: () =>
      inSidecar({
        plan: (plan, { nowMs }) => ({
          ...plan,
          actions: plan.actions.map((action) =>
            action.kind === "csi" && action.call.method === "create"
              ? { ...action, call: { ...action.call, name: `snapshot-${nowMs}` } }
              : action,
          ),
        }),
      }),
  },
  {
    name: "requests a ready snapshot again after a restart, which takes it twice if the driver forgot its name",
    source: "a step doubled",
    scenario: "eight-at-once",
    breaks: ["I-1"],
    seedsMax: 10,
    sabotage: () =>
      inSidecar({
        facts: (facts, { reply }) =>
          reply.kind === "none" && facts.content.status?.readyToUse === true
            ? withContent(facts, { status: { readyToUse: false } })
            : facts,
      }),
  },
  {
    name: "calls DeleteSnapshot although the VolumeSnapshot exists",
    source: "I-4; the being-deleted mark left out",
    scenario: "out-of-order-deletes",
    breaks: ["I-4"],
    seedsMax: 10,
    sabotage: () =>
      inSidecar({
        facts: (facts) =>
          facts.content.metadata.deletionTimestamp === undefined
            ? facts
            : withContent(facts, {
                metadata: { annotations: { ...facts.content.metadata.annotations, [annotations.beingDeleted]: "yes" } },
              }),
      }),
  },
  {
    name: "calls DeleteSnapshot for a snapshot with Retain",
    source: "A3-15: #292",
    scenario: "policy-flips",
    breaks: ["I-5", "O-2"],
    seedsMax: 60,
    sabotage: () => inSidecar({ facts: (facts) => withContent(facts, { spec: { deletionPolicy: "Delete" } }) }),
  },
  {
    name: "releases a content without DeleteSnapshot",
    source: "A3-4: #1258",
    scenario: "delete",
    breaks: ["I-16", "I-6"],
    seedsMax: 5,
    sabotage: () =>
      inSidecar({
        memory: (memory, { content }) =>
          content.metadata.deletionTimestamp === undefined ? memory : { ...memory, reply: { kind: "deleted" } },
      }),
  },
  {
    name: "releases a content during CreateSnapshot",
    source: "A3-2: #1388",
    scenario: "quick-delete",
    breaks: ["I-3", "I-6"],
    seedsMax: 60,
    sabotage: () =>
      inSidecar({
        facts: (facts) => {
          if (facts.content.metadata.deletionTimestamp === undefined) return facts;
          const { [annotations.beingCreated]: _, ...kept } = facts.content.metadata.annotations ?? {};
          return withContent(facts, { metadata: { annotations: kept } });
        },
      }),
  },
  {
    name: "guesses a handle",
    source: "I-3",
    scenario: "dynamic-create",
    breaks: ["I-3"],
    seedsMax: 5,
    sabotage: () =>
      inSidecar({
        plan: (plan) =>
          patches(plan, "status", (body) =>
            isObject(body.status) && body.status.snapshotHandle !== undefined
              ? { ...body, status: { ...body.status, snapshotHandle: "guess" } }
              : body,
          ),
      }),
  },
  {
    name: "changes the creation time at each reply",
    source: "I-7",
    scenario: "slow-driver",
    breaks: ["I-7"],
    seedsMax: 5,
    sabotage: () =>
      inSidecar({
        plan: (plan, { nowMs }) =>
          patches(plan, "status", (body) =>
            isObject(body.status) && body.status.readyToUse !== undefined
              ? { ...body, status: { ...body.status, creationTime: BigInt(nowMs) * 1_000_000n } }
              : body,
          ),
      }),
  },
  {
    name: "serves contents of another driver",
    source: "CVE-2019-11255",
    scenario: "two-drivers",
    breaks: ["I-14"],
    seedsMax: 5,
    sabotage: () => inSidecar({ facts: (facts) => ({ ...facts, driver: facts.content.spec.driver }) }),
  },
  {
    name: "never removes the being-created annotation",
    source: "lifecycle step left out",
    scenario: "delete",
    breaks: ["I-15", "O-2"],
    seedsMax: 30,
    sabotage: () =>
      inSidecar({
        plan: (plan) =>
          patches(plan, "metadata", (body) =>
            touches(body, annotations.beingCreated) && isNull(body) ? undefined : body,
          ),
      }),
  },
  {
    name: "does not retry after an error",
    source: "A3-11: #953",
    scenario: "dynamic-create",
    breaks: ["O-2", "I-15", "I-17"],
    seedsMax: 60,
    sabotage: () =>
      inSidecar({
        plan: (plan, { memory: { reply } }) =>
          reply.kind === "failed" ? { ...plan, next: { kind: "settled" } } : plan,
      }),
  },
  {
    name: "writes again after each of its own writes",
    source: "A3-12: #533, #1009",
    scenario: "dynamic-create",
    breaks: ["I-20"],
    seedsMax: 3,
    sabotage: () =>
      inSidecar({
        plan: (plan, { facts: { content }, nowMs }) => ({
          ...plan,
          actions: [
            ...plan.actions,
            {
              kind: "patch",
              ref: { kind: "VolumeSnapshotContent", name: content.metadata.name, uid: content.metadata.uid },
              patch: {
                type: "merge",
                body: {
                  metadata: { resourceVersion: content.metadata.resourceVersion },
                  status: { restoreSize: nowMs },
                },
              },
              subresource: "status",
            } as const,
          ],
          next: { kind: "after", ms: 5_000 },
        }),
      }),
  },
];

const isNull = (body: { metadata: { annotations?: unknown } }): boolean =>
  isObject(body.metadata.annotations) && body.metadata.annotations[annotations.beingCreated] === null;
