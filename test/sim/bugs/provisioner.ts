/** Wrong decisions of the provisioner. */
import type { Plan } from "../../../src/api/plan.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../src/api/types.ts";
import { Fault, isFinal } from "../../../src/base/fault.ts";
import type { ProvisionerAction } from "../../../src/components/csi-provisioner/plan-steps.ts";
import { planSource } from "../../../src/components/csi-provisioner/sources/plan.ts";
import type { StoredView } from "../../../src/components/csi-provisioner/stored-volumes/observe.ts";
import { planStored } from "../../../src/components/csi-provisioner/stored-volumes/plan.ts";
import type { VolumeView } from "../../../src/components/csi-provisioner/volumes/observe.ts";
import { volumePhaseOf } from "../../../src/components/csi-provisioner/volumes/phase.ts";
import { planVolume } from "../../../src/components/csi-provisioner/volumes/plan.ts";
import type { Sabotage } from "../components.ts";
import { type Bug, type Change, changed, toSabotage } from "./bug.ts";

const inVolume = (change: Change<VolumeView, ProvisionerAction>): Sabotage => ({
  planVolume: toSabotage(changed(planVolume, change)),
});
const inStored = (change: Change<StoredView, ProvisionerAction>): Sabotage => ({
  planStored: toSabotage(changed(planStored, change)),
});

type ProvisionerPlan = Plan<ProvisionerAction>;
const each = (plan: ProvisionerPlan, change: (action: ProvisionerAction) => readonly ProvisionerAction[]) => ({
  ...plan,
  actions: plan.actions.flatMap(change),
});
const without = (plan: ProvisionerPlan, kind: ProvisionerAction["kind"]): ProvisionerPlan =>
  each(plan, (action) => (action.kind === kind ? [] : [action]));
/** Calls lose what is to be done before them. */
const withoutBefore = (plan: ProvisionerPlan, kind: string): ProvisionerPlan =>
  each(plan, (action) =>
    action.kind === "csi" ? [{ ...action, intent: action.intent.filter((step) => step.kind !== kind) }] : [action],
  );

const withFacts = (view: VolumeView, facts: Partial<VolumeView["facts"]>): VolumeView => ({
  ...view,
  facts: { ...view.facts, ...facts },
});
const withMemory = (view: VolumeView, memory: Partial<VolumeView["memory"]>): VolumeView => ({
  ...view,
  memory: { ...view.memory, ...memory },
});
const withVolume = (view: StoredView, change: (volume: PersistentVolume) => Partial<PersistentVolume>): StoredView => ({
  ...view,
  facts: { ...view.facts, volume: { ...view.facts.volume, ...change(view.facts.volume) } },
});

const halfOf = (claim: PersistentVolumeClaim): PersistentVolumeClaim => ({
  ...claim,
  spec: { ...claim.spec, resources: { requests: { storage: "512Mi" } } },
});

export const provisionerBugs: readonly Bug[] = [
  {
    name: "calls CreateVolume before the call is stored",
    source: "provisioner#486",
    scenario: "claim",
    breaks: ["V-2"],
    seedsMax: 3,
    sabotage: () => inVolume({ plan: (plan) => withoutBefore(plan, "logIntent") }),
  },
  {
    name: "takes a CreateVolume call without an outcome for refused",
    source: "A3-10: provisioner#131, #311, ceph-csi#4280",
    scenario: "claim-deleted-at-once",
    breaks: ["V-3", "V-6"],
    seedsMax: 200,
    sabotage: () =>
      inVolume({
        view: (view) =>
          view.memory.reply.kind === "failed" && !isFinal(view.memory.reply.fault)
            ? withMemory(view, { isUncertain: false, reply: { kind: "failed", fault: new Fault("Internal", "no") } })
            : view,
      }),
  },
  {
    name: "forgets the call of a claim that is gone",
    source: "A3-10: provisioner#486, lvm-localpv#76",
    scenario: "claim-deleted-at-once",
    breaks: ["V-3", "V-6"],
    seedsMax: 60,
    sabotage: () =>
      inVolume({
        plan: (plan, { facts }) =>
          volumePhaseOf({ facts }) === "abandoned"
            ? each(plan, () => [{ kind: "forgetIntent", name: facts.name }])
            : plan,
      }),
  },
  {
    name: "settles a call before its PersistentVolume is stored",
    source: "steps swapped",
    scenario: "claim",
    breaks: ["V-3"],
    seedsMax: 3,
    sabotage: () =>
      inVolume({
        plan: (plan, { facts }) =>
          each(plan, (action) =>
            action.kind === "create" ? [{ kind: "settleIntent", name: facts.name }, action] : [action],
          ),
      }),
  },
  {
    name: "stores a PersistentVolume without a note beside its call",
    source: "decision 19; a successor takes a retained volume for an abandoned one",
    scenario: "claim",
    breaks: ["V-11"],
    seedsMax: 3,
    sabotage: () => inVolume({ plan: (plan) => without(plan, "publishing") }),
  },
  {
    name: "never forgets a call",
    source: "step left out",
    scenario: "claim",
    breaks: ["V-9"],
    seedsMax: 3,
    sabotage: () => inVolume({ plan: (plan) => without(plan, "forgetIntent") }),
  },
  {
    name: "makes an empty volume for a claim that names a source",
    source: "A4-3; KEP-2644",
    scenario: "restore",
    breaks: ["I-23"],
    seedsMax: 3,
    sabotage: () => inVolume({ view: (view) => withFacts(view, { source: { kind: "none" } }) }),
  },
  {
    name: "makes an empty volume where the snapshot is not ready",
    source: "KEP reject-invalid-DataSource",
    scenario: "restore-waits",
    breaks: ["I-23"],
    seedsMax: 5,
    sabotage: () =>
      inVolume({
        view: (view) => {
          const { source } = view.facts;
          const isReady = source.kind === "snapshot" && source.snapshot?.status?.readyToUse === true;
          return isReady ? view : withFacts(view, { source: { kind: "none" } });
        },
      }),
  },
  {
    name: "asks for fewer bytes than the claim",
    source: "I-24",
    scenario: "claim",
    breaks: ["I-24"],
    seedsMax: 3,
    sabotage: () =>
      inVolume({ view: (view) => withFacts(view, { claim: view.facts.claim && halfOf(view.facts.claim) }) }),
  },
  {
    name: "asks for a claim's volume under another name each time",
    source: "I-1; external-storage#646",
    scenario: "claim",
    breaks: ["V-1", "V-2"],
    seedsMax: 20,
    sabotage: () => {
      let calls = 0;
      return inVolume({
        plan: (plan) =>
          each(plan, (action) => {
            if (action.kind !== "csi" || action.call.method !== "create") return [action];
            calls += 1;
            return [{ ...action, call: { ...action.call, name: `${action.call.name}-${calls}` } }];
          }),
      });
    },
  },
  {
    name: "deletes the volume of a PersistentVolume that is retained",
    source: "I-5",
    scenario: "claim-retained",
    breaks: ["V-4"],
    seedsMax: 5,
    sabotage: () =>
      inStored({
        view: (view) =>
          withVolume(view, ({ spec }) => ({ spec: { ...spec, persistentVolumeReclaimPolicy: "Delete" } })),
      }),
  },
  {
    name: "deletes the volume of a PersistentVolume that is in use",
    source: "phase left out",
    scenario: "claim",
    breaks: ["V-4"],
    seedsMax: 3,
    sabotage: () => inStored({ view: (view) => withVolume(view, () => ({ status: { phase: "Released" } })) }),
  },
  {
    name: "lets a retained PersistentVolume go before its call is settled, and believes no note",
    source: "decision 19; a successor takes the volume for an abandoned one",
    scenario: "volume-kept",
    breaks: ["V-4"],
    seedsMax: 300,
    sabotage: () => ({
      ...inStored({ plan: (plan) => without(plan, "settleIntent") }),
      ...inVolume({ view: (view) => withMemory(view, { mayBePublished: false }) }),
    }),
  },
  {
    name: "believes a claim that the cache has and the server has not",
    source: "found by seed 22 of claim-retained",
    scenario: "claim-retained",
    breaks: ["O-2", "V-4"],
    seedsMax: 100,
    sabotage: () => inVolume({ view: (view) => withMemory(view, { isUnconfirmed: false }) }),
  },
  {
    name: "never takes the finalizer off the source of a clone",
    source: "A3-9: provisioner#1507",
    scenario: "claim-cloned",
    breaks: ["V-9"],
    seedsMax: 3,
    sabotage: () => ({ planSource: toSabotage(changed(planSource, { plan: (plan) => ({ ...plan, actions: [] }) })) }),
  },
  {
    name: "stores a PersistentVolume without its volume",
    source: "the reply to the call before",
    scenario: "claim",
    breaks: ["V-5"],
    seedsMax: 3,
    sabotage: () =>
      inVolume({
        view: (view) =>
          view.memory.reply.kind === "created"
            ? withMemory(view, {
                reply: { kind: "created", volume: { ...view.memory.reply.volume, id: "volume-of-nobody" } },
              })
            : view,
      }),
  },
];
