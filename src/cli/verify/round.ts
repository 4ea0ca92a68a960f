/** One round: claim, pod that writes, snapshot, restore, pod that reads. Each step is created, waited for and timed. */
import type { CodedMessage, Ref } from "../../api/plan.ts";
import type { Draft } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import { fix, withCode } from "../../errors/codes.ts";
import type { KubeApi, VersionFinder } from "../../kube/api.ts";
import { decideBy } from "../explain/cluster-copy.ts";
import { explain } from "../explain/explain.ts";
import { liveReader } from "../explain/live-reader.ts";
import { explanationText } from "../explain/output.ts";
import type { Chosen } from "./classes.ts";
import { type Look, lookAtClaim, lookAtPod, lookAtSnapshot } from "./look.ts";
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

export interface RoundContext {
  readonly api: KubeApi & VersionFinder;
  readonly world: World;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly chosen: Chosen;
  readonly size: string;
  /** Undefined: without pods. */
  readonly pods: PodWishes | undefined;
  readonly stepMsMax: Millis;
  ended(end: StepEnd): void;
  progress(text: () => string): void;
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

const lookEveryMs = 250;

/** The detail of a step that is done. */
async function runStep(step: Step, context: RoundContext): Promise<string | Trouble> {
  const { world, signal, stepMsMax, progress } = context;
  const trouble = (kind: Trouble["kind"], why: CodedMessage, explanation = ""): Trouble => ({
    kind,
    step: step.name,
    why,
    explanation,
  });
  const giveUpMs = world.elapsed() + stepMsMax;
  try {
    await step.create();
  } catch (reason) {
    if (!(reason instanceof Fault) || !isRefusal(reason)) throw reason;
    return trouble("blocked", withCode(`${reason.message}; ${fix("SNAP-856")}`, "SNAP-856"));
  }
  for (;;) {
    const look = await step.look();
    if (look.kind === "done") return look.detail;
    if (look.kind !== "waiting") return trouble(look.kind, look.why);
    if (world.elapsed() > giveUpMs) {
      const explanation = await explanationOf(step, context);
      const late = `${look.for} after ${Math.round(stepMsMax / 1_000)} s`;
      return trouble("timeout", withCode(`${late}; ${fix("SNAP-861", explanation)}`, "SNAP-861"), explanation);
    }
    progress(() => `waiting: ${look.for}`);
    await world.sleep(lookEveryMs, signal);
  }
}

/** The server takes the object for what it is, and does not want it. */
const isRefusal = ({ code }: Fault): boolean => code === "PermissionDenied" || code === "Invalid";

async function explanationOf({ about }: Step, { api, world, signal }: RoundContext): Promise<string> {
  try {
    const nowMs = world.now();
    const found = await decideBy(liveReader(api), (copy) => explain(copy, about, nowMs), signal);
    return found === undefined || found.verdict === "good" ? "" : explanationText(found, nowMs);
  } catch (reason) {
    return `${about.kind} ${about.name} could not be explained: ${Fault.from(reason).message}\n`;
  }
}

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
