/** Electors as processes of their own, and what they say about themselves. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ElectionEnd } from "../../../src/kube/lease.ts";
import type { Daemon, Instance } from "./instance.ts";
import { until } from "./until.ts";

/** Short, so that tests are. */
export const electionTimes = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500 } as const;

export interface Deed {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  readonly identity: string;
  readonly deed:
    | "stands"
    | "began"
    | "stopping"
    | "continued"
    | "writing"
    | "written"
    | "refused"
    | "failed"
    | "ended"
    | ElectionEnd;
}

export interface Elector {
  readonly identity: string;
  readonly daemon: Daemon;
  deeds(): readonly Deed[];
  /** Waits until it has done this so many times, and returns the last of them. */
  did(deed: Deed["deed"], times?: number): Promise<Deed>;
}

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export function startElector(
  instance: Instance,
  identity: string,
  { kubeconfig, namespace, stopBeforeWrite = 0 }: { kubeconfig: string; namespace: string; stopBeforeWrite?: number },
): Elector {
  const script = join(import.meta.dirname, "elector.ts");
  const args = [script, kubeconfig, namespace, identity, String(stopBeforeWrite)];
  const daemon = instance.start(identity, process.execPath, args);
  const deeds = (): readonly Deed[] =>
    readFileSync(daemon.log, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Deed);
  return {
    identity,
    daemon,
    deeds,
    did: (deed, times = 1) =>
      until({ what: `${identity} has ${deed} ${times} times`, everyMs: 10 }, () => {
        const done = deeds().filter((one) => one.deed === deed);
        return done[times - 1];
      }),
  };
}

/** When two electors both led, one must have stopped starting anything before the other began. Lists those for which it is not so. */
export function overlaps(electors: readonly Elector[]): readonly string[] {
  const reigns = electors.flatMap((elector) => {
    const deeds = elector.deeds();
    const from = deeds.find(({ deed }) => deed === "began")?.at;
    const to = deeds.findLast(({ deed }) => deed === "began" || deed === "writing")?.at;
    return from === undefined || to === undefined ? [] : [{ identity: elector.identity, from, to }];
  });
  reigns.sort((a, b) => a.from - b.from);
  return reigns.flatMap((reign, index) =>
    reigns
      .slice(index + 1)
      .filter((later) => later.from <= reign.to)
      .map((later) => `${later.identity} began ${Math.round(reign.to - later.from)} ms before ${reign.identity} ended`),
  );
}
