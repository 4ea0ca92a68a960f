/** ValidatingAdmissionPolicies and their bindings, as they are applied. */
import type { JsonObject } from "../base/json.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { errorRows, remedyOf } from "../errors/codes.ts";

const policyApi = "admissionregistration.k8s.io/v1";
export const policyDomain = "storage.snapkeep.dev";

/** What happens with a request that a policy refuses: Deny, or Warn and Audit to look first. */
export type ValidationAction = "Deny" | "Warn" | "Audit";

export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

export interface PolicyDraft {
  readonly name: string;
  /** The server evaluates it by itself, so nothing can be down: Fail, unless somebody else refuses the same later. */
  readonly failurePolicy: "Fail" | "Ignore";
  readonly rules: readonly JsonObject[];
  readonly namespaceSelector?: JsonObject;
  /** An update that leaves alone what the rules read is not judged: finalizers can always be removed. */
  readonly isConcerned: string;
  readonly variables: readonly PolicyVariable[];
  readonly validations: readonly JsonObject[];
  /** What the expressions call params. */
  readonly params?: { readonly apiVersion: string; readonly kind: string };
}

export const policyObject = (draft: PolicyDraft): JsonObject => ({
  apiVersion: policyApi,
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: draft.name },
  spec: {
    failurePolicy: draft.failurePolicy,
    ...(draft.params === undefined ? {} : { paramKind: { ...draft.params } }),
    matchConstraints: {
      matchPolicy: "Equivalent",
      ...(draft.namespaceSelector === undefined ? {} : { namespaceSelector: draft.namespaceSelector }),
      resourceRules: [...draft.rules],
    },
    matchConditions: [{ name: "rules-are-concerned", expression: draft.isConcerned }],
    variables: draft.variables.map((variable) => ({ ...variable })),
    validations: [...draft.validations],
  },
});

export const bindingObject = (
  policy: string,
  actions: readonly ValidationAction[],
  params?: JsonObject,
  /** Without the list nobody knows which names are allowed; without the component nobody is guarded. */
  notFound: "Deny" | "Allow" = "Deny",
): JsonObject => ({
  apiVersion: policyApi,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: policy },
  spec: {
    policyName: policy,
    ...(params === undefined ? {} : { paramRef: { ...params, parameterNotFoundAction: notFound } }),
    validationActions: [...actions],
  },
});

interface Said {
  readonly code: ErrorCode;
  readonly field: string;
  readonly messageExpression: string;
  readonly beginning?: string;
}

/** Invalid is status 422, and Forbidden 403: a policy cannot answer 400, which document 000 asks for. */
export const validationObject = (
  expression: string,
  { code, field, messageExpression, beginning = "" }: Said,
  reason: "Invalid" | "Forbidden",
): JsonObject => ({
  expression,
  // Said where the expression for the message fails.
  message: `${beginning}${field}: ${errorRows[code].title}. ${remedyOf(code)} [${code}]`,
  messageExpression,
  reason,
});

export const brokenBefore = "already broken before this change: ";

export interface MutatingDraft {
  readonly name: string;
  readonly rules: readonly JsonObject[];
  readonly isConcerned: string;
  readonly variables: readonly PolicyVariable[];
  /** Each makes a JSON patch. */
  readonly mutations: readonly string[];
}

export const mutatingPolicyObject = ({
  name,
  rules,
  isConcerned,
  variables,
  mutations,
}: MutatingDraft): JsonObject => ({
  apiVersion: policyApi,
  kind: "MutatingAdmissionPolicy",
  metadata: { name },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: { matchPolicy: "Equivalent", resourceRules: [...rules] },
    matchConditions: [{ name: "rules-are-concerned", expression: isConcerned }],
    variables: variables.map((variable) => ({ ...variable })),
    mutations: mutations.map((expression) => ({ patchType: "JSONPatch", jsonPatch: { expression } })),
    reinvocationPolicy: "IfNeeded",
  },
});

export const mutatingBindingObject = (policy: string): JsonObject => ({
  apiVersion: policyApi,
  kind: "MutatingAdmissionPolicyBinding",
  metadata: { name: policy },
  spec: { policyName: policy },
});
