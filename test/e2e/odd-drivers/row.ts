/** One row of the table: how a driver behaves, what a user does with it, and what must come of that. */
import assert from "node:assert/strict";
import type { FaultProxy } from "../../fault-proxy.ts";
import type { Client } from "../harness/client.ts";
import type { Script, ScriptedDriver } from "./driver.ts";

/** What one row may use: nothing in it is shared with another row but the API server, the controller and the proxy before it. */
export interface ScenarioRow {
  readonly client: Client;
  readonly driver: ScriptedDriver;
  readonly namespace: string;
  /** Before the snapshot-controller. */
  readonly proxy: FaultProxy;
  /** A snapshot of a claim of the row, by the row's class unless another is named. */
  take(name: string, claim?: string, className?: string): Promise<void>;
  /** A content with this handle, and a snapshot for it. */
  adopt(name: string, handle: string): Promise<void>;
  /** The claim has gone while a snapshot was taken of it. */
  claimWentEarly(): void;
}

/** What is compared with the Go pair. */
export interface Ending {
  /** The snapshot was ready before it was deleted. */
  readonly ready: boolean;
  /** Snapshot and content went when the snapshot was deleted. */
  readonly gone: boolean;
  /** What is left in the driver's storage. */
  readonly left: readonly string[];
  /** The claim went when it was deleted, and not while a snapshot was taken of it; without a claim, true. */
  readonly claim: boolean;
}

export interface Outcome extends Ending {
  /** status.error of the snapshot before it was deleted. */
  readonly error: string | undefined;
  /** The handle in the content's status. */
  readonly handle: string | undefined;
  /** How old the snapshot was when it was looked at, after the creation time in the content's status. */
  readonly ageMs: number | undefined;
  readonly size: string | undefined;
  /** Handles that the driver was asked to delete. */
  readonly deletes: readonly string[];
  /** All events about snapshot and content: "Warning Reason message". */
  readonly events: readonly string[];
  /** What is to be told of the sidecar itself; mostly nothing. */
  readonly note: string;
}

export interface Row {
  /** Completes "a driver that …". */
  readonly driver: string;
  readonly script: Script;
  /** A pre-provisioned snapshot of this handle; without one, a snapshot of a claim. */
  readonly handle?: string;
  /** More than one claim, by name. */
  readonly claims?: readonly string[];
  /** The class has these parameters. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** A secret "access" in the row's namespace. */
  readonly secret?: Readonly<Record<string, string>>;
  /** The sidecar is started with these. */
  readonly flags?: readonly string[];
  /** Before the user comes, with the sidecar at work. */
  before?(scenario: ScenarioRow): Promise<void>;
  /** What the user does, where it is something else; the snapshots that are to become ready. */
  user?(played: ScenarioRow): Promise<readonly string[]>;
  /** It keeps the controller busy: beside it, others would be slower than they are. */
  readonly isLoad?: boolean;
  /** Longest wait for ready. */
  readonly readyMs?: number;
  /** How the driver behaves once the snapshot was deleted; without it, it stays as it is. */
  readonly mended?: Script;
  /** The claim must be released before the driver is corrected. */
  readonly claimFirst?: boolean;
  /** Unless said otherwise it is ready, goes, leaves nothing in the storage and lets the claim go. */
  readonly right?: Partial<Ending>;
  /** What status.error must say where the snapshot is not to become ready. */
  readonly says?: RegExp;
  /** What some event must say. */
  readonly reports?: RegExp;
  /** What else must be so with ours. */
  shows?(outcome: Outcome): void;
}

export const rightOf = ({ right }: Row): Ending => ({ ready: true, gone: true, left: [], claim: true, ...right });

export const deletesNothing = ({ deletes }: Outcome): void =>
  assert.deepEqual(deletes, [], `DeleteSnapshot was sent for ${JSON.stringify(deletes)}`);
