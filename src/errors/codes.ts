/**
 * The code that ends, in brackets, every message that a user reads. A code never changes its meaning and is never used again, so that
 * people can search for it; docs/reference/errors.md is printed from these rows. By the first digit:
 *
 *   1  one object as it is written, and its change: webhook, lint, label, embedded server, and whoever else comes across it
 *   2  a VolumeSnapshot with its content, class, claim and volume: snapshot-controller; 23x the secrets that any class names
 *   3  claims and their volumes: csi-provisioner
 *   4  references to another namespace
 *   5  calls to the driver about snapshots: csi-snapshotter
 *   6  the phases of the CRDs: migrate
 *   7  volumes of shared Secrets and ConfigMaps: shared-resource; 75x its controller
 *   8  what is installed in a cluster: install; 85x and 86x whether it works: verify; 87x take, restore and delete
 */
import type { CodedMessage } from "../api/plan.ts";
import { printable } from "../base/printable.ts";
import { callErrorRows } from "./calls.ts";
import { groupErrorRows } from "./groups.ts";
import { installErrorRows } from "./install.ts";
import { migrationErrorRows } from "./migration.ts";
import { objectErrorRows } from "./objects.ts";
import type { ErrorRow } from "./row.ts";
import { shareControllerErrorRows } from "./share-controller.ts";
import { shareErrorRows } from "./shares.ts";
import { snapshotErrorRows } from "./snapshots.ts";
import { verbErrorRows } from "./verbs.ts";
import { verifyErrorRows } from "./verify.ts";
import { volumeErrorRows } from "./volumes.ts";

export const errorRows = {
  ...objectErrorRows,
  ...snapshotErrorRows,
  ...volumeErrorRows,
  ...callErrorRows,
  ...groupErrorRows,
  ...migrationErrorRows,
  ...shareErrorRows,
  ...shareControllerErrorRows,
  ...installErrorRows,
  ...verifyErrorRows,
  ...verbErrorRows,
};
export type ErrorCode = keyof typeof errorRows;
export const errorCodes = Object.keys(errorRows) as readonly ErrorCode[];

type NamesIn<Code extends ErrorCode> = (typeof errorRows)[Code]["fix"] extends (
  ...names: infer Names extends string[]
) => string
  ? Names
  : [];

/** The clause at the end of a message that says what mends it, with the names that the message has. */
export function fix<Code extends ErrorCode>(code: Code, ...names: NamesIn<Code>): string {
  const clause: ErrorRow["fix"] = errorRows[code].fix;
  return typeof clause === "string" ? clause : clause(...names);
}

/** The same for documentation and reports, which have no names: in sentences, with all that there is to say. */
export function remedyOf(code: ErrorCode): string {
  const { fix: clause, more }: ErrorRow = errorRows[code];
  const text = typeof clause === "string" ? clause : clause();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.${more === undefined ? "" : ` ${more}`}`;
}

/** A reason without its code yet, for sentences that go on after it. */
export interface Problem<Code extends ErrorCode = ErrorCode> {
  readonly code: Code;
  readonly problem: string;
}

/**
 * The only way to a message for a user. What a user writes into a field is quoted in events and statuses, which others read on a
 * terminal: it becomes one line, and nothing obeys it.
 */
export const withCode = (text: string, code: ErrorCode): CodedMessage => `${printable(text)} [${code}]` as CodedMessage;

/** The same code, with something said before it. */
export const after = (beginning: string, message: CodedMessage): CodedMessage =>
  `${printable(beginning)}${message}` as CodedMessage;

const codeAtEnd = / \[(SNAP-\d+)\]$/;
/** The code that ends a message; undefined: the message is not one of ours, or one of another release. */
export function codeIn(message: string): ErrorCode | undefined {
  const code = codeAtEnd.exec(message)?.[1];
  return code !== undefined && Object.hasOwn(errorRows, code) ? (code as ErrorCode) : undefined;
}
/** For a message that is quoted within another: each has one code, at its end. */
export const withoutCode = (message: string): string => message.replace(codeAtEnd, "");

/** The beginning, and the code that tells the rest. */
export function shortened(message: string, charsMax: number): string {
  if (message.length <= charsMax) return message;
  const code = codeAtEnd.exec(message)?.[0] ?? "";
  return `${message.slice(0, charsMax - 1 - code.length)}…${code}`;
}
