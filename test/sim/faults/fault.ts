/** What a fault is: where it may strike, and what it does there. A new one is a row in its family's file. */
import type { VirtualWorld } from "../../virtual-world.ts";
import type { Backend } from "../backend.ts";
import type { Incarnation } from "../incarnation.ts";
import type { Recorder } from "../record.ts";
import type { User } from "../user.ts";
import type { Boundary, BoundaryKind, Verdict } from "../verdict.ts";
import type { Webhook } from "../webhook.ts";

export interface FaultContext {
  readonly world: VirtualWorld;
  readonly backend: Backend;
  readonly webhook: Webhook;
  readonly user: User;
  readonly recorder: Recorder;
  running(): readonly Incarnation[];
  crash(incarnation: Incarnation, downMs: number): void;
  /** Something may be held for so long before anybody goes on. */
  slow(ms: number): void;
}

export interface Strike extends FaultContext {
  readonly incarnation: Incarnation;
  readonly boundary: Boundary;
  /** Chance of this fault alone: the same whatever else happens. */
  draw(): number;
}

export interface FaultRow {
  readonly name: string;
  readonly family: Family;
  readonly on: readonly BoundaryKind[];
  /** Drawn only in scenarios in which users store invalid objects, the webhook is registered, volumes are provisioned, or restored across namespaces. */
  readonly needs?: "loose" | "webhook" | "provisions" | "consents";
  strike(strike: Strike): Verdict;
}

export const families = [
  "crash",
  "reply",
  "http",
  "csi",
  "watch",
  "stale",
  "storage",
  "odd",
  "clock",
  "user",
  "webhook",
  "leader",
] as const;
export type Family = (typeof families)[number];

export const oneOf = <T>(draw: () => number, choices: readonly [T, ...T[]]): T =>
  choices[Math.floor(draw() * choices.length)] ?? choices[0];

/** Arriving when everything is over, it leaves a content without a snapshot, or a PersistentVolume: see docs/reliability.md. */
export const makesContent = ({ text }: Boundary): boolean =>
  /^POST .*\/(volumesnapshotcontents|persistentvolumes)$/.test(text);
