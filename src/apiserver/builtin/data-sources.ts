/**
 * What becomes of spec.dataSource and spec.dataSourceRef of a claim. Kubernetes 1.36 drops some sources silently, copies
 * one field to the other, and refuses the rest; other tables for the same two fields are possible, so the claim's
 * strategy takes one as an argument. What is wrong with a source is judged by src/rules; the texts are those of Kubernetes.
 */
import type { PersistentVolumeClaimSpec } from "kubernetes-types/core/v1.js";
import { isElsewhere, missingMembers, pairMistake, sourceKindOf } from "../../rules/claim-sources.ts";
import { child, invalid, required } from "../../schema/field-error.ts";
import type { FieldError } from "../contracts.ts";
import { labelNameErrors, subdomainErrors } from "./check.ts";

/** Fields of a claim's spec that tables may change; everything else of it is read only. */
export interface SourceFields {
  dataSource?: Source;
  dataSourceRef?: Source;
  /** Only where the documents' rules hold; document-data-sources.ts. */
  dataSourceRef2?: Source;
  crossNamespaceDataSourceRef?: Source;
}

export interface Source {
  /** Go writes an absent group as null. */
  apiGroup?: string | null;
  kind: string;
  name: string;
  namespace?: string;
}

export interface SourceContext {
  /** The spec being replaced; absent on create. */
  readonly old: SourceFields | undefined;
  readonly crossNamespace: boolean;
  /** Kubernetes has it always on; only the documents' rules look at it. */
  readonly anyVolumeDataSource: boolean;
}

export interface DataSourceTable {
  /** Before validation: drops and copies. Changes its first argument. */
  prepare(spec: SourceFields, context: SourceContext): void;
  errors(spec: SourceFields, context: SourceContext): readonly FieldError[];
}

/** Kubernetes 1.36, where any kind of source is allowed and cross-namespace ones are behind a gate. */
export const kubernetesDataSources: DataSourceTable = {
  prepare: (spec, { old, crossNamespace }) => {
    if (!crossNamespace && isElsewhere(spec.dataSourceRef) && old?.dataSourceRef === undefined)
      delete spec.dataSourceRef;
    const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
    if (!hadSource && spec.dataSourceRef === undefined && spec.dataSource !== undefined)
      if (sourceKindOf(spec.dataSource) !== "supported") delete spec.dataSource;
    mirror(spec);
  },
  errors: (spec, { old }) => {
    const { dataSource, dataSourceRef } = spec;
    // A group that is already stored is not judged again.
    const judgesGroup = (old?.dataSource?.apiGroup ?? old?.dataSourceRef?.apiGroup ?? undefined) === undefined;
    return [
      ...(dataSource === undefined ? [] : sourceErrors(dataSource, "spec.dataSource", judgesGroup)),
      ...(dataSourceRef === undefined ? [] : sourceErrors(dataSourceRef, "spec.dataSourceRef", judgesGroup)),
      ...namespaceErrors(dataSourceRef),
      ...pairErrors(dataSource, dataSourceRef),
    ];
  },
};

/** What is said in one of the two fields is said in both, except across namespaces, which the older field cannot say. */
export function mirror(spec: SourceFields): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) spec.dataSourceRef = withoutNamespace(dataSource);
  else if (dataSource === undefined && dataSourceRef !== undefined && !isElsewhere(dataSourceRef))
    spec.dataSource = withoutNamespace(dataSourceRef);
}

const withoutNamespace = ({ apiGroup, kind, name }: Source): Source => ({
  apiGroup: apiGroup ?? null,
  kind,
  name,
});

function sourceErrors(source: Source, field: string, judgesGroup: boolean): readonly FieldError[] {
  const apiGroup = source.apiGroup ?? "";
  const missing = missingMembers(source);
  const errors: FieldError[] = [];
  if (missing.includes("name")) errors.push(required(child(field, "name")));
  if (missing.includes("kind")) errors.push(required(child(field, "kind")));
  if (sourceKindOf(source) === "core")
    errors.push(invalid(field, source.kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  if (apiGroup !== "" && judgesGroup) errors.push(...subdomainErrors(child(field, "apiGroup"), apiGroup));
  return errors;
}

export const namespaceErrors = (source: Source | undefined, field = "spec.dataSourceRef"): readonly FieldError[] =>
  source === undefined || !isElsewhere(source) ? [] : labelNameErrors(`${field}.namespace`, source.namespace ?? "");

/** Kubernetes shows an internal value here, which prints as {}. */
function pairErrors(dataSource: Source | undefined, dataSourceRef: Source | undefined): readonly FieldError[] {
  const mistake = pairMistake(dataSource, dataSourceRef);
  return mistake === undefined ? [] : [invalid("spec", {}, pairTexts[mistake])];
}
const pairTexts = {
  "across namespaces": "may not be specified when dataSourceRef.namespace is specified",
  different: "must match dataSourceRef",
} as const;

export const sourcesOf = (spec: PersistentVolumeClaimSpec): SourceFields => spec as unknown as SourceFields;
