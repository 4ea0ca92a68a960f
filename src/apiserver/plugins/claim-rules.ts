/** Other rules for the data sources of claims than Kubernetes': those of our documents. */
import { claimShapeWith } from "../../schema/built-in.ts";
import type { Plugin } from "../parts.ts";
import { createDocumentDataSources, type DocumentField } from "./document-data-sources.ts";

/**
 * What becomes of data sources that are not supported: Kubernetes drops some of them, all others refuse them. strict writes claims as
 * Kubernetes does; the others also write a field that Kubernetes does not have.
 */
export const claimRules = ["kubernetes", "strict", "documents", "documents-exclusive"] as const;
export type ClaimRules = (typeof claimRules)[number];

const refusing = (field: DocumentField | undefined): Plugin => {
  const dataSources = createDocumentDataSources(field);
  if (field === undefined) return { dataSources };
  return { dataSources, shapes: { "/PersistentVolumeClaim": claimShapeWith(field) } };
};

/** The document about other namespaces has two proposals for one more field of claims. */
export const claimRulesPlugins: Readonly<Record<ClaimRules, Plugin>> = {
  kubernetes: {},
  strict: refusing(undefined),
  documents: refusing("dataSourceRef2"),
  "documents-exclusive": refusing("crossNamespaceDataSourceRef"),
};
