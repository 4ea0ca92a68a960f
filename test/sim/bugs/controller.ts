/** Wrong decisions of the snapshot-controller. */
import { annotations, finalizers } from "../../../src/api/names.ts";
import { edit } from "../../../src/api/patches.ts";
import { settled } from "../../../src/api/plan.ts";
import { isObject, type JsonObject } from "../../../src/base/json.ts";
import { hasFinalizer } from "../../../src/components/snapshot-controller/observe.ts";
import { planContent } from "../../../src/components/snapshot-controller/plan-content.ts";
import { type Bug, inClaim, inSnapshot, patches, withContent } from "./bug.ts";

export const controllerBugs: readonly Bug[] = [
  {
    name: "chooses another driver's default class",
    source: "I-13",
    scenario: "default-class",
    breaks: ["I-13"],
    seedsMax: 5,
    sabotage: () =>
      inSnapshot({
        plan: (plan) => patches(plan, "spec", (body) => ({ ...body, spec: { volumeSnapshotClassName: "tape" } })),
      }),
  },
  {
    name: "reports readiness as soon as a content exists",
    source: "I-9",
    scenario: "slow-driver",
    breaks: ["I-9"],
    seedsMax: 5,
    sabotage: () =>
      inSnapshot({
        plan: (plan) =>
          patches(plan, "status", (body) => ({
            ...body,
            status: { ...(body.status as JsonObject), readyToUse: true },
          })),
      }),
  },
  {
    name: "shows a snapshot ready before its content has lost the being-created annotation",
    source: "the conflict of Kubernetes' own stress test with Retain",
    scenario: "dynamic-create",
    breaks: ["I-9"],
    seedsMax: 5,
    sabotage: () =>
      inSnapshot({
        view: (view) => {
          const { [annotations.beingCreated]: _, ...kept } = view.facts.content?.metadata.annotations ?? {};
          return view.facts.content?.status?.readyToUse === true
            ? { ...view, facts: withContent(view.facts, { metadata: { annotations: kept } }) }
            : view;
        },
      }),
  },
  {
    name: "takes readiness back",
    source: "I-8",
    scenario: "dynamic-create",
    breaks: ["I-8"],
    seedsMax: 5,
    sabotage: () =>
      inSnapshot({
        plan: (plan, { facts: { snapshot } }) =>
          snapshot.status?.readyToUse !== true
            ? plan
            : {
                ...plan,
                actions: [
                  {
                    kind: "patch",
                    ref: {
                      kind: "VolumeSnapshot",
                      namespace: "default",
                      name: snapshot.metadata.name,
                      uid: snapshot.metadata.uid,
                    },
                    patch: { type: "merge", body: { status: { readyToUse: false } } },
                    subresource: "status",
                  } as const,
                ],
              },
      }),
  },
  {
    name: "never releases the claim",
    source: "A3-8: #764, #1305",
    scenario: "delete",
    breaks: ["I-17"],
    seedsMax: 5,
    sabotage: () =>
      inClaim({
        plan: (plan, { facts: { claim } }) =>
          claim.metadata.finalizers?.includes(finalizers.claimAsSource) ? { ...plan, actions: [] } : plan,
      }),
  },
  {
    name: "treats a claim as protected while the removal of its finalizer is in flight",
    source: "found by reading: I-17 looked only at rest",
    scenario: "one-after-the-other",
    breaks: ["I-17"],
    seedsMax: 80,
    sabotage: () => ({ protectionOf: (claim) => (hasFinalizer(claim) ? "certain" : "none") }),
  },
  {
    name: "lets a claim of another namespace block a deletion without a grant",
    source: "a stranger's claim kept any snapshot",
    scenario: "restore-across-namespaces",
    breaks: ["I-15"],
    seedsMax: 20,
    sabotage: () => ({ grantFor: () => "any" }),
  },
  {
    name: "releases a snapshot during the restore of a claim with a grant",
    source: "I-18 across namespaces",
    scenario: "restore-across-namespaces",
    breaks: ["I-18"],
    seedsMax: 20,
    sabotage: () => ({ grantFor: () => undefined }),
  },
  {
    name: "replaces all finalizers of the claim",
    source: "A4-1",
    scenario: "delete",
    breaks: ["I-16"],
    seedsMax: 5,
    sabotage: () =>
      inClaim({
        plan: (plan) => ({
          ...plan,
          actions: plan.actions.map((action) =>
            action.kind === "replace"
              ? { ...action, object: { ...action.object, metadata: { ...action.object.metadata, finalizers: [] } } }
              : action,
          ),
        }),
      }),
  },
  {
    name: "releases the snapshot before its content",
    source: "lifecycle steps swapped",
    scenario: "delete",
    breaks: ["I-16"],
    seedsMax: 5,
    sabotage: () =>
      inSnapshot({
        plan: (plan, { facts: { snapshot } }) =>
          snapshot.metadata.deletionTimestamp === undefined
            ? plan
            : {
                ...plan,
                actions: edit("VolumeSnapshot", snapshot, {
                  removeFinalizers: [finalizers.snapshotAsSource, finalizers.snapshotBound],
                }),
              },
      }),
  },
  {
    name: "forgets a deletion that was blocked once",
    source: "A3-6: #1366",
    scenario: "restore-holds",
    breaks: ["I-15", "O-2"],
    seedsMax: 10,
    sabotage: () => {
      const held = new Set<string>();
      return inSnapshot({
        plan: (plan, { facts: { snapshot, restoring } }) => {
          const { uid, deletionTimestamp } = snapshot.metadata;
          if (deletionTimestamp !== undefined && restoring.length > 0) held.add(uid);
          return held.has(uid) ? { ...plan, actions: [], next: settled } : plan;
        },
      });
    },
  },
  {
    name: "waits for a claim that waits for readiness",
    source: "A3-7: #747",
    scenario: "never-ready",
    breaks: ["I-19", "I-20"],
    seedsMax: 20,
    sabotage: () =>
      inSnapshot({
        plan: (plan, { facts: { snapshot, restoring } }) =>
          snapshot.metadata.deletionTimestamp !== undefined && restoring.length > 0
            ? { ...plan, actions: [], next: settled }
            : plan,
      }),
  },
  {
    name: "ignores claims that are being restored",
    source: "A4-2",
    scenario: "restore-holds",
    breaks: ["I-18", "O-2"],
    seedsMax: 30,
    sabotage: () => inSnapshot({ view: (view) => ({ ...view, facts: { ...view.facts, restoring: [] } }) }),
  },
  {
    name: "trusts its cache of claims when a snapshot is deleted",
    source: "npm run chaos, with watches delayed by 0.3 s",
    scenario: "restore-deleted-at-once",
    breaks: ["I-18"],
    seedsMax: 150,
    sabotage: () => inSnapshot({ view: (view) => ({ ...view, memory: { ...view.memory, areClaimsRead: true } }) }),
  },
  {
    name: "deletes a content without the being-deleted annotation",
    source: "A3-3: PR#1446",
    scenario: "delete",
    breaks: ["I-15"],
    seedsMax: 5,
    sabotage: () =>
      inSnapshot({
        plan: (plan) =>
          patches(plan, "metadata", (body) =>
            isObject(body.metadata.annotations) && annotations.beingDeleted in body.metadata.annotations
              ? undefined
              : body,
          ),
      }),
  },
  {
    name: "replaces the whole annotation map from its cache",
    source: "A4-1",
    scenario: "quick-delete",
    breaks: ["I-38", "I-37", "I-2"],
    seedsMax: 100,
    sabotage: () =>
      inSnapshot({
        plan: (plan, { facts: { content } }) => ({
          ...plan,
          actions: plan.actions.map((action) => {
            if (action.kind !== "patch" || action.ref.kind !== "VolumeSnapshotContent" || content === undefined)
              return action;
            const value = { ...content.metadata.annotations, [annotations.beingDeleted]: "yes" };
            const at = { op: "test", path: "/metadata/uid", value: content.metadata.uid } as const;
            return {
              ...action,
              patch: { type: "json", body: [at, { op: "add", path: "/metadata/annotations", value }] },
            } as const;
          }),
        }),
      }),
  },
  {
    name: "gives a new snapshot the content of a deleted one with the same name",
    source: "I-11; uid fence left out",
    scenario: "namesake",
    breaks: ["I-11", "I-9"],
    seedsMax: 10,
    sabotage: () =>
      inSnapshot({
        view: (view) => {
          const { facts } = view;
          const ref = facts.content?.spec.volumeSnapshotRef;
          const spec = { volumeSnapshotRef: { ...ref, uid: facts.snapshot.metadata.uid } as JsonObject };
          return ref?.name === facts.snapshot.metadata.name ? { ...view, facts: withContent(facts, { spec }) } : view;
        },
      }),
  },
  {
    name: "binds two snapshots to one content",
    source: "I-10; reference not compared",
    scenario: "namesake",
    breaks: ["I-10"],
    seedsMax: 10,
    sabotage: () =>
      inSnapshot({
        view: (view) => {
          const { namespace, name, uid } = view.facts.snapshot.metadata;
          const spec = { volumeSnapshotRef: { namespace, name, uid } as JsonObject };
          return name === "tuesday" ? { ...view, facts: withContent(view.facts, { spec }) } : view;
        },
      }),
  },
  {
    name: "changes more of a spec than the reference",
    source: "I-12",
    scenario: "pre-provisioned",
    breaks: ["I-12"],
    seedsMax: 5,
    sabotage: () =>
      inSnapshot({
        plan: (plan) =>
          patches(plan, "spec", (body) => ({
            ...body,
            spec: { ...(body.spec as JsonObject), deletionPolicy: "Retain" },
          })),
      }),
  },
  {
    name: "crashes on an unusual object",
    source: "A3-14: CVE-2020-8569",
    scenario: "poison",
    breaks: ["I-36"],
    seedsMax: 3,
    sabotage: () => ({
      planContent: ((view: Parameters<typeof planContent>[0]) => {
        if (view.facts.content.spec.source === undefined) throw new TypeError("cannot read properties of undefined");
        return planContent(view);
      }) as never,
    }),
  },
];
