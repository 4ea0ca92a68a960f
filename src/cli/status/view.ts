/** What `snapkeep status` knows, as data: the text, the JSON and a page show the same. */
import type { Ref } from "../../api/plan.ts";
import type { Actor } from "../../api/reasons.ts";
import type { Millis } from "../../base/brand.ts";
import type { Cause } from "../explain/causes.ts";
import type { Verdict } from "../explain/explain.ts";
import type { Step } from "../explain/finding.ts";
import type { Problem } from "../install/health-plan.ts";

export interface StatusView {
  readonly nowMs: Millis;
  readonly server: string;
  /** Undefined: objects of all namespaces. */
  readonly namespace: string | undefined;
  readonly verdict: Verdict;
  /** How many things a person has to look at. */
  readonly needsPerson: number;
  readonly components: readonly ComponentView[];
  readonly webhooks: readonly WebhookView[];
  readonly definitions: readonly DefinitionView[];
  readonly drivers: readonly DriverView[];
  readonly objects: readonly PhasesView[];
  readonly waiting: readonly WaitingView[];
  readonly problems: readonly Problem[];
  /** What the caller may not read, or the API server does not serve, and what is therefore not judged. */
  readonly notRead: readonly string[];
}

export type ComponentState = "leads" | "runs" | "does not run" | "unknown";

export interface ComponentView {
  readonly name: string;
  readonly driver?: string | undefined;
  readonly state: ComponentState;
  /** All components in one process: then there are no pods and no leases. */
  readonly process?: "snapkeep up" | undefined;
  readonly namespace?: string | undefined;
  /** The tag of the image; several during an upgrade. */
  readonly versions: readonly string[];
  readonly pods?: { readonly ready: number; readonly all: number } | undefined;
  readonly lease?: Ref | undefined;
  /** As the lease has it. */
  readonly leader?: string | undefined;
  readonly renewedMs?: Millis | undefined;
  /** The container's own words. */
  readonly problem?: string | undefined;
}

export interface WebhookView {
  readonly configuration: string;
  readonly kind: "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration";
  readonly webhook: string;
  readonly failurePolicy: string;
  /** The Service or the URL at which it is asked. */
  readonly at: string;
  /** When the last authority that is trusted ends; undefined: none is named. */
  readonly trustedUntilMs: Millis | undefined;
}

export interface DefinitionView {
  readonly name: string;
  readonly served: readonly string[];
  /** In which versions objects may be stored. */
  readonly stored: readonly string[];
}

export interface DriverView {
  readonly name: string;
  /** On how many nodes it is registered. */
  readonly nodes: number;
  /** What can be known of it from the cluster. */
  readonly capabilities: readonly string[];
  readonly snapshotClasses: readonly string[];
  readonly storageClasses: readonly string[];
}

export interface PhasesView {
  readonly kind: Ref["kind"];
  readonly count: number;
  readonly phases: Readonly<Record<string, number>>;
}

/** Objects that wait for one reason; the oldest stands for all. */
export interface WaitingView {
  readonly code: Cause;
  readonly verdict: Exclude<Verdict, "good">;
  readonly actor: Actor;
  readonly count: number;
  readonly objects: readonly WaitingObject[];
  readonly says: string;
  readonly next: Step | undefined;
}

export interface WaitingObject {
  readonly object: Ref;
  readonly sinceMs: Millis | undefined;
}
