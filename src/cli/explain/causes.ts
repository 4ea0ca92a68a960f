/**
 * Why an object waits: the reasons of the controllers' plans, and causes that no controller can see, because they are about the
 * controllers, the API server or the caller. The names are part of the output of `explain -o json`.
 */
import { type Actor, type ReasonCode, reasonRows } from "../../api/reasons.ts";

interface CauseRow {
  readonly actor: Actor;
  readonly means: string;
}

export const outerCauseRows = {
  NothingWrong: { actor: "nobody", means: "The object is as it should be, or waits for no longer than usual." },
  ComponentDown: {
    actor: "administrator",
    means: "The component that has to act does not run, or nobody holds its lease.",
  },
  WebhookDown: {
    actor: "administrator",
    means: "A webhook with failurePolicy Fail does not answer, so writes are refused.",
  },
  KindNotServed: { actor: "administrator", means: "The API server does not serve the kind." },
  ForeignFinalizer: { actor: "user", means: "The object is being deleted and has a finalizer of somebody else." },
  NotReadable: { actor: "administrator", means: "The caller may not read what the answer needs." },
  NewerThanProgram: {
    actor: "administrator",
    means: "The object has a version or a field that this program does not know.",
  },
  KnownDefect: { actor: "administrator", means: "A known defect of the Go component that runs here." },
} as const satisfies Readonly<Record<string, CauseRow>>;

export type OuterCause = keyof typeof outerCauseRows;
export type Cause = ReasonCode | OuterCause;

export const isOuterCause = (cause: Cause): cause is OuterCause => Object.hasOwn(outerCauseRows, cause);
export const causeRowOf = (cause: Cause): CauseRow => (isOuterCause(cause) ? outerCauseRows[cause] : reasonRows[cause]);
