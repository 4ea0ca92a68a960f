/** What the owners of claims and volumes, and the metrics, are told. */
import type { CodedEvent, CodedMessage } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import { createLru } from "../../base/lru.ts";
import { isSameError } from "../../base/same-error.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import type { MayTell } from "./consent/consent.ts";
import type { Remembered } from "./driver/remembered.ts";
import type { ProvisionerAction } from "./plan-steps.ts";

export interface ReportParts {
  readonly log: Log;
  readonly remembered: Pick<Remembered, "tookMs">;
  readonly mayTell: MayTell;
  leading(): boolean;
  record(about: KubeObject, event: CodedEvent): void;
  /** Told of each claim that is denied its source, once for each reason. */
  denied(about: KubeObject): void;
  count(what: "created" | "deleted", about: KubeObject, tookMs: Millis): void;
}

export interface Reports {
  /** Records an event, once for each kind of error, not once for each attempt. */
  error(about: KubeObject, reason: string, message: CodedMessage): void;
  readonly handlers: Pick<ActionHandlers<ProvisionerAction>, "reportError" | "reportCall" | "count">;
}

/** Errors that were reported, by object: a repetition costs no event. */
const reportedMax = 10_000;

export function createReports(parts: ReportParts): Reports {
  const { leading, log, record } = parts;
  const reported = createLru<string>(reportedMax);
  const isReported = (about: KubeObject, message: CodedMessage): boolean => {
    const before = reported.get(about.metadata.uid);
    return !leading() || (before !== undefined && isSameError(before, message));
  };
  const error = (about: KubeObject, reason: string, message: CodedMessage): void => {
    if (isReported(about, message)) return;
    reported.set(about.metadata.uid, message);
    record(about, { type: "Warning", reason, message });
  };
  return {
    error,
    handlers: {
      reportError: async ({ about, reason, message, consent, isFailure }, signal) => {
        if (isReported(about, message)) return;
        if (isFailure === true) parts.denied(about);
        const isTold = consent === undefined || (await parts.mayTell(consent.from, consent.to, signal));
        error(about, reason, isTold ? message : consent.otherwise);
      },
      reportCall: async ({ about, reason, message, volume }) => {
        if (!leading()) return;
        log.error("a stored CreateVolume call is not carried out", { volume, reason, message });
        record(about, { type: "Warning", reason, message });
      },
      count: async ({ what, about, uid }) => parts.count(what, about, parts.remembered.tookMs(uid)),
    },
  };
}
