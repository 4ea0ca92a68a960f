/** The faults of a schedule on their way: each strikes at the first call from its place on where it can. */
import { diceFrom } from "../virtual-world.ts";
import type { Activity } from "./activity.ts";
import { countMin, type FaultContext, faultNamed, type PlannedFault } from "./faults/index.ts";
import type { TakeNote } from "./record.ts";
import { type Boundary, pass } from "./verdict.ts";
import type { Stage } from "./wire.ts";

/** How long a missing response stays unnoticed. */
const silenceMs = { csi: 60_000, watch: 90_000, list: 30_000, get: 30_000, write: 30_000 } as const;
const downAtRestMs = 1_000;
/** No fault strikes elections; the provisioner's own Lease is another matter. */
const electionLeases = "/namespaces/kube-system/leases";

export interface Strikes {
  readonly strike: Stage["strike"];
  readonly boundaries: readonly Boundary[];
  /** Faults that struck, by name. */
  readonly struck: readonly string[];
  /** Whether they made another script of it, which need not end as without faults. */
  endsOtherwise(): boolean;
  /** Whether it is at rest too early: too few have struck, and others came too late for a call. */
  isTooCalm(): boolean;
  /** All components restart, so that remaining faults strike the calls of a start; nothing else may change. */
  disturbRest(): void;
}

export function createStrikes(
  faults: readonly PlannedFault[],
  context: FaultContext,
  { note, unrest }: { note: TakeNote; unrest: Activity },
): Strikes {
  const boundaries: Boundary[] = [];
  const struck: string[] = [];
  let waiting = [...faults].sort((a, b) => a.at - b.at);
  let endsOtherwise = false;

  const nextFor = ({ n, kind }: Boundary): PlannedFault | undefined => {
    const [first] = waiting;
    // In their order: when the first is for later, so are the others.
    if (first === undefined || first.at > n) return undefined;
    const index = waiting.findIndex(({ at, name }) => at <= n && faultNamed(name).on.includes(kind));
    return index === -1 ? undefined : waiting.splice(index, 1)[0];
  };
  const strike: Stage["strike"] = (incarnation, kind, text) => {
    const boundary: Boundary = { n: boundaries.length, process: incarnation.name, kind, text };
    if (text.includes(electionLeases)) return { boundary, verdict: pass };
    boundaries.push(boundary);
    if (kind === "csi" || kind === "write") unrest.act();
    note("call", incarnation.name, text);
    const planned = nextFor(boundary);
    if (planned === undefined) return { boundary, verdict: pass };
    const row = faultNamed(planned.name);
    struck.push(row.name);
    unrest.disturb();
    note("fault", incarnation.name, `${row.name} at ${boundary.n}: ${text}`);
    const verdict = row.strike({ ...context, incarnation, boundary, draw: diceFrom(planned.pick) });
    endsOtherwise ||= row.family === "user" || row.family === "odd" || verdict.endsOtherwise === true;
    unrest.hold((verdict.delayMs ?? 0) + (verdict.replyMs ?? 0) + (verdict.silent ? silenceMs[kind] : 0));
    return { boundary, verdict };
  };

  return {
    strike,
    boundaries,
    struck,
    endsOtherwise: () => endsOtherwise,
    isTooCalm: () => waiting.length > 0 && struck.length < countMin,
    disturbRest: () => {
      waiting = waiting.map((fault) => ({ ...fault, at: 0 }));
      struck.push("crash-all");
      note("fault", "all", "crash-all at rest");
      for (const incarnation of context.running()) context.crash(incarnation, downAtRestMs);
    },
  };
}
