/** What a seeded bug is: one wrong decision, and the promise that it breaks. */
import type { Plan } from "../../../src/api/plan.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ContentView as SidecarView } from "../../../src/components/csi-snapshotter/observe.ts";
import { planContent as planSidecar } from "../../../src/components/csi-snapshotter/plan.ts";
import type { SidecarAction } from "../../../src/components/csi-snapshotter/plan-steps.ts";
import type { ClaimView, SnapshotView } from "../../../src/components/snapshot-controller/observe.ts";
import { planSnapshot } from "../../../src/components/snapshot-controller/plan.ts";
import { planClaim } from "../../../src/components/snapshot-controller/plan-claim.ts";
import type { Sabotage } from "../components.ts";

export interface Bug {
  readonly name: string;
  /** Where it happened, or why it could. */
  readonly source: string;
  readonly scenario: string;
  /** Promises of which at least one is seen broken. */
  readonly breaks: readonly string[];
  /** Found within so many seeds. */
  readonly seedsMax: number;
  /** A fresh one for each run: some bugs remember. */
  sabotage(): Sabotage;
}

export type Change<View, Action> = {
  view?(view: View): View;
  plan?(plan: Plan<Action>, view: View): Plan<Action>;
};
export const changed =
  <View, Action>(planner: (view: View) => Plan<Action>, { view: look = same, plan = same }: Change<View, Action>) =>
  (view: View): Plan<Action> =>
    plan(planner(look(view)), view);
const same = <T>(value: T): T => value;

type Actions<P extends (view: never) => Plan<unknown>> = ReturnType<P>["actions"][number];
export const toSabotage = <V, A>(plan: (view: V) => Plan<A>): NonNullable<Sabotage["planSidecar"]> =>
  plan as unknown as NonNullable<Sabotage["planSidecar"]>;

/** Changes what the plan of the sidecar sees, its facts or its memory, or what it decides. */
export const inSidecar = ({ facts: lookAt, memory: recall, plan }: SidecarChange): Sabotage => {
  const view = ({ facts, memory, nowMs }: SidecarView): SidecarView => ({
    nowMs,
    facts: lookAt?.(facts, memory) ?? facts,
    memory: recall?.(memory, facts) ?? memory,
  });
  return { planSidecar: toSabotage(changed(planSidecar, { view, ...(plan === undefined ? {} : { plan }) })) };
};
interface SidecarChange extends Pick<Change<SidecarView, SidecarAction>, "plan"> {
  facts?(facts: SidecarView["facts"], memory: SidecarView["memory"]): SidecarView["facts"];
  memory?(memory: SidecarView["memory"], facts: SidecarView["facts"]): SidecarView["memory"];
}
export const inSnapshot = (change: Change<SnapshotView, Actions<typeof planSnapshot>>): Sabotage => ({
  planSnapshot: toSabotage(changed(planSnapshot, change)),
});
export const inClaim = (change: Change<ClaimView, Actions<typeof planClaim>>): Sabotage => ({
  planClaim: toSabotage(changed(planClaim, change)),
});

/** Another memory of the CreateSnapshot calls for the content. */
export const withAttempt = (view: SidecarView, change: Partial<SidecarView["memory"]["attempt"]>): SidecarView => ({
  ...view,
  memory: { ...view.memory, attempt: { ...view.memory.attempt, ...change } },
});

/** The content of the view, changed. */
export const withContent = <V extends { readonly content: KubeObject | undefined }>(
  view: V,
  change: { metadata?: JsonObject; spec?: JsonObject; status?: JsonObject },
): V => {
  const { content } = view;
  if (content === undefined) return view;
  const old = content as unknown as { metadata: JsonObject; spec: JsonObject; status?: JsonObject };
  return {
    ...view,
    content: {
      ...content,
      metadata: { ...old.metadata, ...change.metadata },
      spec: { ...old.spec, ...change.spec },
      ...(change.status === undefined ? {} : { status: { ...old.status, ...change.status } }),
    },
  };
};

interface PatchBody extends JsonObject {
  metadata: JsonObject;
}
/** Changes the body of every patch that has what `field` names; undefined drops the action. */
export const patches = <A extends { readonly kind: string }>(
  plan: Plan<A>,
  field: "status" | "spec" | "metadata",
  change: (body: PatchBody) => JsonObject | undefined,
): Plan<A> => ({
  ...plan,
  actions: plan.actions.flatMap((action) => {
    const { patch } = action as { patch?: { type: string; body: PatchBody } };
    if (action.kind !== "patch" || patch?.type !== "merge" || patch.body[field] === undefined) return [action];
    const body = change(patch.body);
    return body === undefined ? [] : [{ ...action, patch: { ...patch, body } }];
  }),
});
