/** AdmissionReview in and out, v1 and v1beta1: each is answered in its own version. */
import type { CodedMessage, JsonPatchOperation } from "../../api/plan.ts";
import { Fault } from "../../base/fault.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { shortened } from "../../errors/codes.ts";
import type { UserInfo } from "./own-probe.ts";

export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly group: string;
  readonly resource: string;
  /** As the API server has authenticated whoever sent the request. */
  readonly user: UserInfo;
  /** Nothing is stored, whatever the answer. */
  readonly dryRun: boolean;
  /** The object as it would be stored: a name that the server generates may be missing. Empty on DELETE. */
  readonly object: JsonObject;
  /** The stored object, on UPDATE only. */
  readonly oldObject: JsonObject | undefined;
}

export interface AdmissionAnswer {
  readonly denied?: { readonly code: number; readonly message: CodedMessage } | undefined;
  readonly warnings?: readonly CodedMessage[] | undefined;
  readonly patch?: readonly JsonPatchOperation[] | undefined;
}

const reviewVersions: ReadonlySet<unknown> = new Set(["admission.k8s.io/v1", "admission.k8s.io/v1beta1"]);

const unreadable = (what: string): Fault =>
  new Fault("InvalidArgument", `the body is not an AdmissionReview of admission.k8s.io/v1 or v1beta1: ${what}`);

/** Parses the review, asks for the answer, prints the reply. Throws InvalidArgument for what is not a review. */
export function reply(body: string, answer: (request: AdmissionRequest) => AdmissionAnswer): string {
  const { apiVersion, request } = reviewIn(body);
  return print(apiVersion, request.uid, answer(request));
}

function reviewIn(body: string): { readonly apiVersion: string; readonly request: AdmissionRequest } {
  let review: unknown;
  try {
    review = JSON.parse(body);
  } catch {
    throw unreadable("it is not JSON");
  }
  if (!isObject(review)) throw unreadable("it is not an object");
  const { apiVersion, kind, request } = review;
  if (kind !== "AdmissionReview" || !reviewVersions.has(apiVersion))
    throw unreadable(`it is a ${JSON.stringify(kind ?? null)} of ${JSON.stringify(apiVersion ?? null)}`);
  if (!isObject(request)) throw unreadable("it has no request");
  const { uid, operation, resource, object, oldObject, userInfo, dryRun } = request;
  if (typeof uid !== "string" || uid === "") throw unreadable("request.uid is missing");
  const named = isObject(resource) ? resource : {};
  const user = isObject(userInfo) ? userInfo : {};
  return {
    apiVersion: apiVersion as string,
    request: {
      uid,
      operation: String(operation ?? ""),
      group: String(named.group ?? ""),
      resource: String(named.resource ?? ""),
      user: { username: textOf(user.username), uid: textOf(user.uid) },
      dryRun: dryRun === true,
      object: isObject(object) ? object : {},
      // The operation decides: Go clients send an empty object where there is none.
      oldObject: operation === "UPDATE" && isObject(oldObject) ? oldObject : undefined,
    },
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function print(apiVersion: string, uid: string, { denied, warnings = [], patch = [] }: AdmissionAnswer): string {
  return JSON.stringify({
    kind: "AdmissionReview",
    apiVersion,
    response: {
      uid,
      allowed: denied === undefined,
      ...(denied === undefined
        ? {}
        : { status: { status: "Failure", ...reasonOf(denied.code), code: denied.code, message: denied.message } }),
      ...(warnings.length === 0 ? {} : { warnings: warnings.map((text) => shortened(text, warningMax)) }),
      ...(patch.length === 0 || denied !== undefined
        ? {}
        : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }),
    },
  });
}

/** Tools compare the reason; the API server takes one from the code only where none is given. */
const reasonOf = (code: number): { readonly reason?: string } => (code === 403 ? { reason: "Forbidden" } : {});

/** Longer warnings are cut by some clients in the middle of a word; Kubernetes asks for at most 120 characters, and accepts 256. */
const warningMax = 256;
