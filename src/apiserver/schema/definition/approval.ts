/** Groups of the Kubernetes community may only be used with its approval, given in an annotation. */
import type { JsonObject } from "../../../base/json.ts";
import { object, text } from "../../../schema/fields.ts";
import { goQuote } from "../../../schema/go-text.ts";

export const approvalAnnotation = "api-approved.kubernetes.io";
const see = "see https://github.com/kubernetes/enhancements/pull/1111";
const must = `protected groups must have approval annotation ${goQuote(approvalAnnotation)}`;

export const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

export interface Approval {
  readonly state: "missing" | "bypassed" | "approved" | "invalid";
  readonly message: string;
}

export function approvalOf(definition: JsonObject): Approval {
  const value = text(object(object(definition.metadata).annotations)[approvalAnnotation]);
  if (value === "") return { state: "missing", message: `${must}, ${see}` };
  if (value.startsWith("unapproved")) return { state: "bypassed", message: `not approved: ${goQuote(value)}` };
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/\s]+/.test(value)) return { state: "approved", message: `approved in ${value}` };
  return { state: "invalid", message: `${must} with either a URL or a reason starting with "unapproved", ${see}` };
}
