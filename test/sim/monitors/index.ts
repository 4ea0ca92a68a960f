/** All monitors, and the judge that asks them as the history grows. */
import type { Entry, Seen } from "../record.ts";
import { binding } from "./binding.ts";
import { consent } from "./consent.ts";
import { dataSafety } from "./data-safety.ts";
import { finalizerMonitors } from "./finalizers.ts";
import type { Counter, Monitor } from "./monitor.ts";
import { operation } from "./operation.ts";
import { validation } from "./validation.ts";
import { volumeMonitors } from "./volumes.ts";

/** I-20 is about the run as a whole: the runner, which waits for rest, reports it. */
const comesToRest: Monitor = {
  id: "I-20",
  promise: "when users and faults pause, the system comes to rest within five minutes and then writes nothing",
};

export const monitors: readonly Monitor[] = [
  ...dataSafety,
  ...binding,
  ...finalizerMonitors,
  ...volumeMonitors,
  ...consent,
  comesToRest,
  ...validation,
  ...operation,
];

export interface Violation {
  readonly id: string;
  readonly text: string;
  readonly counter: Counter | undefined;
}

export interface Judge {
  /** Asks about everything that happened since the last look. */
  look(): void;
  rest(): void;
  restless(): void;
  violations(): readonly Violation[];
}

export function createJudge(seen: Seen, asked: readonly Monitor[] = monitors): Judge {
  const found: Violation[] = [];
  let next = 0;
  const report = ({ id, counter }: Monitor, text: string | undefined): void => {
    if (text !== undefined) found.push({ id, text, counter });
  };
  // Most monitors are about one type of entry, and most entries are notes: a monitor without a handler for the type is skipped.
  const onWrite = asked.filter((monitor) => monitor.onWrite !== undefined);
  const onCall = asked.filter((monitor) => monitor.onCall !== undefined);
  const onEnd = asked.filter((monitor) => monitor.onEnd !== undefined);
  const onAdmission = asked.filter((monitor) => monitor.onAdmission !== undefined);
  const onNote = asked.filter((monitor) => monitor.onNote !== undefined);
  const ask = (able: readonly Monitor[], question: (monitor: Monitor) => string | undefined): void => {
    for (const monitor of able) report(monitor, question(monitor));
  };
  const judge = (entry: Entry): void => {
    switch (entry.type) {
      case "write":
        ask(onWrite, (monitor) => monitor.onWrite?.(entry, seen));
        break;
      case "csi":
        ask(onCall, (monitor) => monitor.onCall?.(entry, seen));
        break;
      case "csi-end":
        ask(onEnd, (monitor) => monitor.onEnd?.(entry, seen));
        break;
      case "admission":
        ask(onAdmission, (monitor) => monitor.onAdmission?.(entry));
        break;
      case "note":
        ask(onNote, (monitor) => monitor.onNote?.(entry, seen));
        break;
    }
  };
  return {
    look() {
      for (let entry = seen.entries[next]; entry !== undefined; entry = seen.entries[next]) {
        next += 1;
        judge(entry);
      }
    },
    rest() {
      for (const monitor of asked) report(monitor, monitor.atRest?.(seen));
    },
    restless: () => {
      const monitor = asked.find(({ id }) => id === comesToRest.id);
      if (monitor !== undefined) report(monitor, `still busy: ${seen.entries.length} entries`);
    },
    violations: () => found,
  };
}
