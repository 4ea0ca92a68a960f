/** Admission policies on a control plane, and what they answer. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Answer } from "./request.ts";

export const policyGroup = "/apis/admissionregistration.k8s.io/v1";
export const collectionOf = (object: JsonObject): string => {
  const kind = String(object.kind).toLowerCase();
  return `${policyGroup}/${kind.endsWith("policy") ? kind.replace(/y$/, "ies") : `${kind}s`}`;
};

export async function applyPolicies(
  ask: (method: string, path: string, body: unknown) => Promise<Answer>,
  objects: readonly JsonObject[],
): Promise<void> {
  for (const object of objects) {
    const { status, text } = await ask("POST", collectionOf(object), object);
    assert.equal(status, 201, text);
  }
}

export const messageIn = ({ text }: Answer): string => (JSON.parse(text) as { message: string }).message;

/** Without the names of policy and binding. */
export const afterName = (text: string): string =>
  text.replace(/^.*?ValidatingAdmissionPolicy '[^']*' with binding '[^']*'( denied request)?: /s, "");
