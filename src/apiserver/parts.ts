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

/** What becomes of data sources that are not supported: Kubernetes drops some of them, the requirement documents refuse all. */
export const claimRules = ["kubernetes", "documents", "documents-exclusive"] as const;
export type ClaimRules = (typeof claimRules)[number];

const standard: Partial<Record<ClaimRules, Parts>> = {};

export function standardParts(rules: ClaimRules = "kubernetes"): Parts {
  standard[rules] ??= rules === "kubernetes" ? createParts() : documentParts(documentFields[rules]);
  return standard[rules];
}

/** The document about other namespaces has two proposals for one more field of claims. */
const documentFields: Readonly<Record<Exclude<ClaimRules, "kubernetes">, DocumentField>> = {
  documents: "dataSourceRef2",
  "documents-exclusive": "crossNamespaceDataSourceRef",
};

function documentParts(field: DocumentField): Parts {
  const claims = claimShapeWith(field);
  return {
    ...standardParts(),
    schemas: {
      ...schemas,
      builtIn: (group, version, kind) =>
        group === "" && kind === "PersistentVolumeClaim" ? claims : schemas.builtIn(group, version, kind),
    },
    strategies: createStrategies({ dataSources: createDocumentDataSources(field) }),
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
