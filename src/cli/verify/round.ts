/** One round: claim, pod that writes, snapshot, restore, pod that reads. Each step is created, waited for and timed. */
import type { CodedMessage, Ref } from "../../api/plan.ts";
import type { Draft } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { fix, withCode } from "../../errors/codes.ts";
import { type Look, type WaitContext, waitFor } from "../waiting.ts";
import type { Chosen } from "./classes.ts";
import { lookAtClaim, lookAtPod, lookAtSnapshot } from "./look.ts";
import { claimIn, names, type PodWishes, podIn, refIn, scripts, snapshotIn } from "./objects.ts";

export type StepName = "claim" | "write" | "snapshot" | "restore" | "read" | "removal";

export interface StepEnd {
  readonly step: StepName;
  readonly tookMs: Millis;
  readonly detail: string;
}

/** Why a round has not come to its end. */
export interface Trouble {
  readonly kind: "blocked" | "failed" | "timeout";
  readonly step: StepName;
  readonly why: CodedMessage;
  /** In several lines, for a person. */
  readonly explanation: string;
}

export interface RoundContext extends WaitContext {
  readonly namespace: string;
  readonly chosen: Chosen;
  readonly size: string;
  /** Undefined: without pods. */
  readonly pods: PodWishes | undefined;
  readonly stepMsMax: Millis;
  ended(end: StepEnd): void;
}

interface Step {
  readonly name: StepName;
  create(): Promise<void>;
  look(): Promise<Look>;
  /** What explains a wait. */
  readonly about: Ref;
}

/** Undefined: everything works. Throws what is no trouble of storage: no rights, no server, an interruption. */
export async function runRound(context: RoundContext): Promise<Trouble | undefined> {
  for (const step of stepsOf(context)) {
    const startedMs = context.world.elapsed();
    const trouble = await runStep(step, context);
    if (typeof trouble !== "string") return trouble;
    context.ended({ step: step.name, tookMs: context.world.elapsed() - startedMs, detail: trouble });
  }
  return undefined;
}

/** The detail of a step that is done. */
async function runStep(step: Step, context: RoundContext): Promise<string | Trouble> {
  const { name, about, look } = step;
  try {
    await step.create();
  } catch (reason) {
    if (!(reason instanceof Fault) || !isRefusal(reason)) throw reason;
    const why = withCode(`${reason.message}; ${fix("SNAP-856")}`, "SNAP-856");
    return { kind: "blocked", step: name, why, explanation: "" };
  }
  const end = await waitFor({ look, about, msMax: context.stepMsMax }, context);
  return end.kind === "done" ? end.detail : { ...end, step: name };
}

/** The server takes the object for what it is, and does not want it. */
const isRefusal = ({ code }: Fault): boolean => code === "PermissionDenied" || code === "Invalid";

function stepsOf(context: RoundContext): readonly Step[] {
  const { api, namespace, chosen, size, pods, signal, world } = context;
  const words = `snapkeep-${Math.floor(world.random() * 1e9)}`;
  const create = async (draft: Draft): Promise<void> => {
    await api.create(draft.kind as "Pod", draft, { signal });
  };
  const createPod = async (name: string, claim: string, script: string): Promise<void> => {
    if (pods === undefined) return;
    try {
      await create(podIn(namespace, name, claim, script, pods));
    } catch (reason) {
      if (!isFault(reason, "PermissionDenied") || !/security context constraint/.test(reason.message)) throw reason;
      await create(podIn(namespace, name, claim, script, { ...pods, leavesUser: true }));
    }
  };
  const claim = (name: string) => refIn("PersistentVolumeClaim", namespace, name);
  const snapshot = refIn("VolumeSnapshot", namespace, names.snapshot);
  const lookAtPodOf = async (name: string, expected: string): Promise<Look> => {
    const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${name}`;
    const { objects } = await api.list("Event", { namespace, fieldSelector, signal });
    return lookAtPod(await api.get(refIn("Pod", namespace, name), { signal }), objects, expected);
  };
  const lookAtVolume = async (name: string): Promise<Look> => lookAtClaim(await api.get(claim(name), { signal }));
  const made: readonly Step[] = [
    {
      name: "claim",
      create: async () => {
        await create(claimIn(namespace, names.source, chosen, size));
        // Of a class that waits for a first consumer, the volume is made for the pod.
        await createPod(names.writer, names.source, scripts.writer(words));
      },
      look: () => lookAtVolume(names.source),
      about: claim(names.source),
    },
    {
      name: "write",
      create: async () => undefined,
      look: () => lookAtPodOf(names.writer, "written"),
      about: claim(names.source),
    },
    {
      name: "snapshot",
      create: () => create(snapshotIn(namespace, chosen)),
      look: async () => lookAtSnapshot(await api.get(snapshot, { signal })),
      about: snapshot,
    },
    {
      name: "restore",
      create: async () => {
        await create(claimIn(namespace, names.restored, chosen, size));
        await createPod(names.reader, names.restored, scripts.reader());
      },
      look: () => lookAtVolume(names.restored),
      about: claim(names.restored),
    },
    {
      name: "read",
      create: async () => undefined,
      look: () => lookAtPodOf(names.reader, words),
      about: claim(names.restored),
    },
  ];
  return pods === undefined ? made.filter(({ name }) => name !== "write" && name !== "read") : made;
}
