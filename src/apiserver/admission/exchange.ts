/** One question to one webhook: the AdmissionReview sent, and what its answer means. Pure. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { goQuote } from "../../schema/go-text.ts";
import type { ApiObject, Resource, Review } from "../contracts.ts";
import { Refusal, type StatusDetails } from "../status.ts";
import type { Phase, Webhook } from "./webhook.ts";

export type ReviewVersion = "v1" | "v1beta1";

export const versionFor = ({ admissionReviewVersions }: Webhook): ReviewVersion | undefined =>
  (admissionReviewVersions ?? []).find(
    (version): version is ReviewVersion => version === "v1" || version === "v1beta1",
  );

const apiVersionOf = (version: ReviewVersion): string => `admission.k8s.io/${version}`;
const kindOf = ({ group, version, kind }: Resource): JsonObject => ({ group, version, kind });
const resourceOf = ({ group, version, plural }: Resource): JsonObject => ({ group, version, resource: plural });

/** Between two served versions of one kind. */
export function inVersionOf(object: ApiObject | undefined, from: Resource, to: Resource): ApiObject | undefined {
  if (object === undefined || from === to) return object;
  const stored = from.conversion?.toStored(object) ?? object;
  const shown = to.conversion?.fromStored(stored) ?? stored;
  return { ...shown, apiVersion: to.group === "" ? to.version : `${to.group}/${to.version}` };
}

/** `row`: the resource in the version the webhook asked for. */
export function questionFor(review: Review, row: Resource, version: ReviewVersion, uid: string): JsonObject {
  return { kind: "AdmissionReview", apiVersion: apiVersionOf(version), request: { uid, ...requestFor(review, row) } };
}

/** What match conditions see of it, too. */
export function requestFor(review: Review, row: Resource): JsonObject {
  const { resource, subresource, name, namespace, operation, context } = review;
  const { user } = context;
  return {
    kind: kindOf(row),
    resource: resourceOf(row),
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: kindOf(resource),
    requestResource: resourceOf(resource),
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: [...user.groups],
      ...(user.extra === undefined ? {} : { extra: user.extra as unknown as JsonObject }),
    },
    object: inVersionOf(review.object, resource, row) ?? null,
    oldObject: inVersionOf(review.oldObject, resource, row) ?? null,
    dryRun: context.dryRun,
    options: review.options,
  };
}

export interface Verdict {
  readonly allowed: boolean;
  /** JSON patch operations, decoded. */
  readonly patch: string | undefined;
  readonly status: JsonObject;
  readonly warnings: readonly string[];
}

/** Throws an Error with the reason when the answer cannot be used. */
export function verdictOf(answer: JsonValue, phase: Phase, version: ReviewVersion, uid: string): Verdict {
  const review = isObject(answer) ? answer : {};
  const { response } = review;
  if (!isObject(response)) throw new Error("webhook response was absent");
  if (version === "v1") checkStrictly(review, response, phase, uid);
  const patch = typeof response.patch === "string" && response.patch !== "" ? response.patch : undefined;
  const warnings = Array.isArray(response.warnings) ? response.warnings : [];
  return {
    allowed: response.allowed === true,
    patch: phase === "mutating" && patch !== undefined ? Buffer.from(patch, "base64").toString("utf8") : undefined,
    status: isObject(response.status) ? response.status : {},
    warnings: warnings.filter((text) => typeof text === "string"),
  };
}

function checkStrictly(review: JsonObject, response: JsonObject, phase: Phase, uid: string): void {
  if (response.uid !== uid)
    throw new Error(`expected response.uid=${goQuote(uid)}, got ${goQuote(String(response.uid ?? ""))}`);
  const got = `${String(review.apiVersion ?? "")}, Kind=${String(review.kind ?? "")}`;
  if (got !== `${apiVersionOf("v1")}, Kind=AdmissionReview`)
    throw new Error(`expected webhook response of ${apiVersionOf("v1")}, Kind=AdmissionReview, got ${got}`);
  const hasPatch = (response.patch ?? "") !== "";
  const { patchType } = response;
  if (phase === "validating") {
    if (hasPatch) throw new Error("validating webhook may not return response.patch");
    if (patchType !== undefined) throw new Error("validating webhook may not return response.patchType");
    return;
  }
  if (hasPatch && patchType === undefined)
    throw new Error("webhook returned response.patch but not response.patchType");
  if (!hasPatch && patchType !== undefined)
    throw new Error("webhook returned response.patchType but not response.patch");
  if (patchType !== undefined && patchType !== "JSONPatch")
    throw new Error(`unsupported patch type ${goQuote(String(patchType))}`);
}

/** A denial in the webhook's words, with its code as far as that is one of an error. */
export function denial(webhook: string, status: JsonObject): Refusal {
  const deniedBy = `admission webhook ${goQuote(webhook)} denied the request`;
  const said = [status.message, status.reason].find((text) => typeof text === "string" && text !== "");
  const code = typeof status.code === "number" && status.code >= 400 ? status.code : 400;
  return new Refusal(
    code,
    typeof status.reason === "string" ? status.reason : "",
    said === undefined ? `${deniedBy} without explanation` : `${deniedBy}: ${String(said)}`,
    isObject(status.details) ? (status.details as unknown as StatusDetails) : undefined,
  );
}
