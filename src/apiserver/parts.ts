/** The parts a server is usually made of. One set for all servers of a process, so that what is made from it is shared. */

import { claimShapeWith } from "../schema/built-in.ts";
import { createAdmissionWith } from "./admission/admission.ts";
import { standardBackground } from "./binder/background.ts";
import { bootstrapObjects } from "./builtin/bootstrap.ts";
import { createDocumentDataSources, type DocumentField } from "./builtin/document-data-sources.ts";
import { createStrategies } from "./builtin/strategies.ts";
import type { Parts } from "./contracts.ts";
import { definitionEnd } from "./definitions.ts";
import { decodeProtobuf } from "./protobuf/decode.ts";
import { createAuthorizer } from "./rbac/authorize.ts";
import { createOpenApi } from "./schema/openapi/openapi.ts";
import { createPatcher } from "./schema/patcher.ts";
import { schemas } from "./schema/schemas.ts";

/**
 * What becomes of data sources that are not supported: Kubernetes drops some of them, all others refuse them. strict writes claims as
 * Kubernetes does; the others also write a field that Kubernetes does not have.
 */
export const claimRules = ["kubernetes", "strict", "documents", "documents-exclusive"] as const;
export type ClaimRules = (typeof claimRules)[number];

const standard: Partial<Record<ClaimRules, Parts>> = {};

export function standardParts(rules: ClaimRules = "kubernetes"): Parts {
  standard[rules] ??= rules === "kubernetes" ? createParts() : strictParts(documentFields[rules]);
  return standard[rules];
}

/** The document about other namespaces has two proposals for one more field of claims. */
const documentFields: Readonly<Record<Exclude<ClaimRules, "kubernetes">, DocumentField | undefined>> = {
  strict: undefined,
  documents: "dataSourceRef2",
  "documents-exclusive": "crossNamespaceDataSourceRef",
};

function strictParts(field: DocumentField | undefined): Parts {
  const parts = { ...standardParts(), strategies: createStrategies({ dataSources: createDocumentDataSources(field) }) };
  if (field === undefined) return parts;
  const claims = claimShapeWith(field);
  return {
    ...parts,
    schemas: {
      ...schemas,
      builtIn: (group, version, kind) =>
        group === "" && kind === "PersistentVolumeClaim" ? claims : schemas.builtIn(group, version, kind),
    },
  };
}

function createParts(): Parts {
  const initial = bootstrapObjects();
  return {
    schemas,
    patcher: createPatcher({ trackUpdates: true }),
    openApi: createOpenApi(),
    decodeProtobuf,
    strategies: createStrategies(),
    definitionEnd,
    bootstrap: () => initial,
    createAdmission: createAdmissionWith(),
    createAuthorizer,
    background: standardBackground,
  };
}
