/**
 * The data sources of claims as the requirement documents want them: what is not supported is refused, where Kubernetes stores the
 * claim without it. The rules are those of the webhook.
 *
 * The document about other namespaces adds a field of its own for sources with a namespace, in one of two ways, behind the gate
 * CrossNamespaceVolumeDataSource:
 *
 *   dataSourceRef2                the newer field of the two, kept equal to dataSourceRef:
 *     dataSourceRef   dataSourceRef2                 becomes
 *     –               –                              as it is
 *     set             –                              dataSourceRef2 is copied from dataSourceRef
 *     set             the same                       as it is
 *     set             different, or a namespace      refused
 *     –               set                            dataSourceRef is copied from dataSourceRef2
 *     –               set, with a namespace          as it is
 *   crossNamespaceDataSourceRef   a field beside the others: it is refused where another source is set.
 *     The document says "DataSource and DataSourceRef are both set" there, which is a slip: Kubernetes itself sets both.
 */
import type { JsonObject } from "../../base/json.ts";
import { claimSourceViolations, isElsewhere, pairMistake } from "../../rules/claim-sources.ts";
import type { FieldViolation } from "../../rules/object-rules.ts";
import { valueAt } from "../../rules/values.ts";
import { invalid } from "../../schema/field-error.ts";
import {
  type DataSourceTable,
  kubernetesDataSources,
  mirror,
  namespaceErrors,
  type SourceContext,
  type SourceFields,
} from "../builtin/data-sources.ts";
import type { FieldError } from "../contracts.ts";

/** The field that claims have in addition. */
export type DocumentField = "dataSourceRef2" | "crossNamespaceDataSourceRef";

const asClaim = (spec: SourceFields): JsonObject => ({ spec: spec as unknown as JsonObject });

const errorFrom = (spec: SourceFields, { field, message }: FieldViolation): FieldError =>
  invalid(field, valueAt(asClaim(spec), field) ?? "", message.slice(`${field}: `.length));

/** Without a field of its own, claims are written as Kubernetes writes them. */
export function createDocumentDataSources(own: DocumentField | undefined): DataSourceTable {
  const violationsOf = (spec: SourceFields, { old, anyVolumeDataSource, crossNamespace }: SourceContext) =>
    claimSourceViolations(
      asClaim(spec),
      old === undefined ? undefined : asClaim(old),
      { anyVolumeDataSource, crossNamespace },
      ["dataSource", "dataSourceRef", ...(own === undefined ? [] : [own])],
    );
  return {
    prepare: (spec, context) => {
      // What is refused is shown as it was written.
      if (violationsOf(spec, context).length > 0) return;
      mirror(spec);
      if (own === "dataSourceRef2" && context.crossNamespace) mirrorSecond(spec);
    },
    errors: (spec, context) => {
      const violations = violationsOf(spec, context);
      if (violations.length > 0) return violations.map((violation) => errorFrom(spec, violation));
      return [
        ...kubernetesDataSources.errors(spec, context),
        ...(own === undefined ? [] : namespaceErrors(spec[own], `spec.${own}`)),
        ...(own === "dataSourceRef2" ? secondErrors(spec) : []),
        ...(own === "crossNamespaceDataSourceRef" ? exclusiveErrors(spec) : []),
      ];
    },
  };
}

function mirrorSecond(spec: SourceFields): void {
  const { dataSourceRef, dataSourceRef2 } = spec;
  if (dataSourceRef !== undefined && dataSourceRef2 === undefined) spec.dataSourceRef2 = { ...dataSourceRef };
  else if (dataSourceRef === undefined && dataSourceRef2 !== undefined && !isElsewhere(dataSourceRef2)) {
    const { namespace: _, ...local } = dataSourceRef2;
    spec.dataSourceRef = local;
    mirror(spec);
  }
}

function secondErrors({ dataSourceRef, dataSourceRef2 }: SourceFields): readonly FieldError[] {
  if (dataSourceRef === undefined || dataSourceRef2 === undefined) return [];
  const isSame =
    pairMistake({ ...dataSourceRef, namespace: undefined }, { ...dataSourceRef2, namespace: undefined }) ===
      undefined && (dataSourceRef.namespace ?? "") === (dataSourceRef2.namespace ?? "");
  return isSame ? [] : [invalid("spec.dataSourceRef2", dataSourceRef2.name, "must match dataSourceRef")];
}

function exclusiveErrors({
  dataSource,
  dataSourceRef,
  crossNamespaceDataSourceRef,
}: SourceFields): readonly FieldError[] {
  const other = dataSourceRef === undefined ? dataSource : dataSourceRef;
  return crossNamespaceDataSourceRef === undefined || other === undefined
    ? []
    : [
        invalid(
          "spec.crossNamespaceDataSourceRef",
          crossNamespaceDataSourceRef.name,
          "may not be specified when dataSource or dataSourceRef is specified",
        ),
      ];
}
