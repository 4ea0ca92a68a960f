/** What one object waits for, as its controller decides it: a link of the chain. */

import { type KindName, kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Actor } from "../../api/reasons.ts";
import type { KubeObject } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import type { Cause } from "./causes.ts";
import type { Component } from "./running.ts";

export interface Finding {
  readonly object: Ref;
  readonly phase: string | undefined;
  readonly cause: Cause;
  readonly says: string;
  readonly waitsFor: readonly Ref[];
  readonly sinceMs: Millis | undefined;
  /** Who has to act, where it is another than the cause's row says. */
  readonly actor?: Actor | undefined;
  /** The component that acts next on the object; absent: none has to. */
  readonly component?: Component | undefined;
  readonly evidence: readonly string[];
  /** Instead of the steps that the cause has. */
  readonly next?: readonly Step[] | undefined;
  /** Beside the steps that the cause has. */
  readonly more?: readonly Step[] | undefined;
}

export interface Step {
  readonly says: string;
  readonly command?: string | undefined;
}

export const textOf = ({ kind, namespace, name }: Ref): string => `${kind} ${keyIn(namespace, name)}`;
/** As tools print it in JSON. */
export const refJson = ({ kind, namespace, name }: Ref) => ({
  kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});
export const refTo = ({ kind, metadata: { namespace, name } }: KubeObject): Ref => ({
  kind: kind as KindName,
  namespace,
  name,
});
export const isSame = (a: Ref, b: Ref): boolean =>
  a.kind === b.kind && keyIn(a.namespace, a.name) === keyIn(b.namespace, b.name);
/** As a shell takes it for one word: others have chosen the names, and people copy the commands. */
export const word = (text: string): string =>
  /^[\w.:@%+=,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
/** As it is typed after `kubectl get`. */
export const argumentsFor = ({ kind, namespace, name }: Ref): string => {
  const { singular } = kindRows[kind];
  return `${singular} ${word(name)}${namespace === undefined ? "" : ` -n ${word(namespace)}`}`;
};

/** A finding of what no controller sees. */
export const outer = (finding: Pick<Finding, "object" | "cause" | "says"> & Partial<Finding>): Finding => ({
  phase: undefined,
  waitsFor: [],
  sinceMs: undefined,
  evidence: [],
  ...finding,
});
export const createdMs = ({ metadata }: KubeObject): Millis => Date.parse(metadata.creationTimestamp ?? "") || 0;
export const deletedMs = ({ metadata }: KubeObject): Millis | undefined =>
  metadata.deletionTimestamp === undefined ? undefined : Date.parse(metadata.deletionTimestamp);
