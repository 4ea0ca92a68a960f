/** Which object a request is about. */
import { type Key, keyIn } from "../base/brand.ts";
import type { Resource } from "./contracts.ts";

export interface Target {
  readonly resource: Resource;
  /** "" for cluster-scoped kinds, and for all namespaces. */
  readonly namespace: string;
  /** "" for a whole collection, or when it will be generated. */
  readonly name: string;
}

export const keyFor = ({ resource, namespace }: Omit<Target, "name">, name: string): Key =>
  keyIn(resource.scope === "namespace" ? namespace : undefined, name);

/** The words in a path are the client's: "constructor" must not find what every object inherits. */
export const ownEntry = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
