/** Which process something on disk belongs to, so that leftovers of a killed process can be distinguished from files in use. */
import { hostname } from "node:os";
import { type Identity, identify, isAlive, processNamespace } from "../runtime/process-identity.ts";

export interface Owner extends Identity {
  readonly host: string;
  /** Process numbers mean something else in another container. */
  readonly namespace: string;
}

export function thisProcess(): Owner {
  const { pid } = process;
  const { startedAt } = identify(pid) ?? { startedAt: "" };
  return { pid, startedAt, host: hostname(), namespace: processNamespace() };
}

/** False for a process that cannot be judged from here: on another machine, in another container, or where processes show no start time. */
export const isGone = (owner: Owner): boolean =>
  owner.startedAt !== "" && owner.host === hostname() && owner.namespace === processNamespace() && !isAlive(owner);

export const isOwner = (value: unknown): value is Owner => {
  const { pid, startedAt, host, namespace } = (value ?? {}) as Partial<Owner>;
  return typeof pid === "number" && [startedAt, host, namespace].every((text) => typeof text === "string");
};
