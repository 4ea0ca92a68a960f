/**
 * ReferenceGrant of the Gateway API, as far as storage needs it: for `snapkeep up`, for tests, and for clusters without the Gateway API,
 * which has the same fields in the same versions.
 */
import type { JsonObject } from "../../base/json.ts";
import { crdFrom } from "./definition.ts";
import type { CrdDraft } from "./index.ts";
import { fields, string } from "./schema.ts";

const entriesMax = 16;
const entries = (description: string, items: JsonObject): JsonObject => ({
  type: "array",
  description,
  minItems: 1,
  maxItems: entriesMax,
  items,
});
const group = string('The API group; "" is the core group.', {
  maxLength: 253,
  pattern: "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
});
const kind = string("The kind, as the API spells it.", {
  minLength: 1,
  maxLength: 63,
  pattern: "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
});

const from = fields(
  "Who may refer.",
  { group, kind, namespace: string("Where the referring objects are.", { minLength: 1, maxLength: 63 }) },
  { required: ["group", "kind", "namespace"] },
);
const to = fields(
  "What may be referred to.",
  { group, kind, name: string("One object; left out, all of the kind.", { minLength: 1, maxLength: 253 }) },
  { required: ["group", "kind"] },
);
const schema = fields("Lets objects of other namespaces refer to objects in this one.", {
  apiVersion: string(""),
  kind: string(""),
  metadata: { type: "object" },
  spec: fields(
    "Every entry of from is combined with every entry of to.",
    { from: entries("The objects that may refer.", from), to: entries("The objects that may be referred to.", to) },
    { required: ["from", "to"] },
  ),
});

export const referenceGrantCrd = (): CrdDraft =>
  crdFrom("ReferenceGrant", {
    schema,
    storage: "v1beta1",
    annotations: { "api-approved.kubernetes.io": "unapproved, a part of the Gateway API for development and tests" },
  });
