/** One stuck object, and what a good answer to "why is it stuck?" says. Written before `explain`, so that no answer is fitted to the code. */
import type { Actor, ReasonCode } from "../../src/api/reasons.ts";
import type { ClusterObject, ObjectId } from "./cluster.ts";

/** Causes that no controller can see, because they are about the controllers, the API server or the caller. */
export const outerCauses = [
  /** The object is as it should be, or waits for no longer than usual. */
  "NothingWrong",
  /** No process leads where one must: no lease, an expired one, or no pod. */
  "ComponentDown",
  /** A webhook with failurePolicy Fail does not answer, so that writes are refused. */
  "WebhookDown",
  /** The kind is not served. */
  "KindNotServed",
  /** A finalizer that belongs to none of the known components. */
  "ForeignFinalizer",
  /** The caller may not read what the answer needs. */
  "NotReadable",
  /** A field or version that this program does not know. */
  "NewerThanProgram",
  /** A defect of the replaced component that runs here. */
  "KnownDefect",
] as const;
export type Cause = ReasonCode | (typeof outerCauses)[number];

export interface StuckCase {
  readonly given: string;
  /** The public thread in which somebody was stuck like this. */
  readonly thread?: string;
  readonly explain: ObjectId;
  readonly objects: readonly ClusterObject[];
  readonly gone?: readonly ObjectId[];
  /** Kinds that the caller may not read. */
  readonly unreadable?: readonly string[];
  /** Kinds that the API server does not serve. */
  readonly unserved?: readonly string[];
  readonly cause: Cause;
  /** The object on which the cause lies. */
  readonly at: ObjectId;
  readonly actor: Actor;
  /** What the next step says, command included. */
  readonly next: RegExp;
  /** Why the expectation is another than the one that was written before the code. */
  readonly changed?: string;
  /** Advice that would harm here, beside what harms always (harm.ts). */
  readonly never?: RegExp;
}
