/**
 * The data sources of claims as the requirement documents want them: what is not supported is refused, where Kubernetes stores the
 * claim without it. The rules are those of the webhook.
 */
import type { JsonObject } from "../../base/json.ts";
import { claimSourceViolations } from "../../rules/claim-sources.ts";
import type { FieldViolation } from "../../rules/object-rules.ts";
import { valueAt } from "../../rules/object-rules.ts";
import type { FieldError } from "../contracts.ts";
import { invalid } from "../field-error.ts";
import {
  type DataSourceTable,
  kubernetesDataSources,
  mirror,
  type SourceContext,
  type SourceFields,
} from "./data-sources.ts";

const asClaim = (spec: SourceFields): JsonObject => ({ spec: spec as unknown as JsonObject });

const violationsOf = (spec: SourceFields, { old, anyVolumeDataSource, crossNamespace }: SourceContext) =>
  claimSourceViolations(asClaim(spec), old === undefined ? undefined : asClaim(old), {
    anyVolumeDataSource,
    crossNamespace,
  });

const errorFrom = (spec: SourceFields, { field, message }: FieldViolation): FieldError =>
  invalid(field, valueAt(asClaim(spec), field) ?? "", message.slice(`${field}: `.length));

export const documentDataSources: DataSourceTable = {
  prepare: (spec, context) => {
    // What is refused is shown as it was written.
    if (violationsOf(spec, context).length === 0) mirror(spec);
  },
  errors: (spec, context) => {
    const violations = violationsOf(spec, context);
    return violations.length === 0
      ? kubernetesDataSources.errors(spec, context)
      : violations.map((violation) => errorFrom(spec, violation));
  },
};
