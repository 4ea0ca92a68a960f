/** The words of the checks of one object: what it looks like, what its shape is, what its name may be. Types only. */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { FieldError } from "./field-error.ts";

export interface Metadata extends JsonObject {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: JsonValue[];
}

export interface OwnerReference extends JsonObject {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ApiObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
}

export type NameRule = "subdomain" | "label" | "label1035" | "pathSegment";

/** One schema of one resource version, compiled. */
export interface Shape {
  /**
   * Fits a decoded object to the schema: removes unknown fields (changes its argument) and names them as Kubernetes does
   * ("spec.foo"). A value that the Go type of the field cannot hold throws a DecodeError.
   */
  prune(object: ApiObject): readonly string[];
  /** Changes its argument. */
  defaults(object: ApiObject): void;
  /** A stored object of a custom kind with the defaults it lacks, which are shown but stored only with the next write. */
  defaulted?(object: ApiObject): ApiObject;
  /** Types, formats, bounds, and x-kubernetes-validations; with `old`, transition rules and ratcheting. On "status" only that part. */
  validate(
    object: ApiObject,
    old: ApiObject | undefined,
    subresource?: string,
    /** Told of rules that are broken and tolerated, because what they speak of did not change. */
    warn?: (text: string) => void,
  ): readonly FieldError[];
}
