/** Request bodies: read within bounds, parsed, recognised as the kind the path is about, and fitted to its schema. */
import { bodyText, type HttpRequest } from "../base/http.ts";
import { isObject, type JsonObject, type JsonValue, parse } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import { invalid as fieldInvalid } from "../schema/field-error.ts";
import { goQuote, jsonWord } from "../schema/go-text.ts";
import type { ApiObject, DecodeProtobuf, FeatureGates, Resource } from "./contracts.ts";
import { duplicateFields } from "./duplicates.ts";
import { refuseDeepText, refuseDeepValue } from "./nesting.ts";
import { holdsInfinite, numberOutOfRange, refuseOutOfRange } from "./number-range.ts";
import { fit } from "./prepare.ts";
import type { FieldValidation } from "./query.ts";
import { apiVersionOf } from "./rows.ts";
import { badRequest, invalid, Refusal, tooLarge, unsupportedMediaType } from "./status.ts";

const acceptedTypes = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const summaryLength = 30;

export interface Parsed {
  readonly value: JsonValue;
  /** What the body says twice, as Kubernetes complains of it. */
  duplicates(): readonly string[];
}

interface Body extends Parsed {
  /** The text of the body, for messages. */
  readonly text: string;
}

export type Media = "json" | "yaml" | "protobuf";

export function mediaOf(request: HttpRequest): Media {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "" || type === "application/json") return "json";
  if (type === "application/yaml") return "yaml";
  if (type === "application/vnd.kubernetes.protobuf") return "protobuf";
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${acceptedTypes}`,
  );
}

export function bodyBytes({ body = "" }: HttpRequest): number {
  const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  if (bytes > limits.requestBytesMax) throw tooLarge(`limit is ${limits.requestBytesMax}`);
  return bytes;
}

/** A parser failure is worded by `refuse`, which knows what was expected. */
export async function readBody(
  request: HttpRequest,
  decodeProtobuf: DecodeProtobuf,
  refuse: (why: string, text: string) => Refusal,
): Promise<Body> {
  const media = mediaOf(request);
  bodyBytes(request);
  const { body = "" } = request;
  if (media === "protobuf") {
    const value = decodeProtobuf(typeof body === "string" ? Buffer.from(body) : body);
    refuseDeepValue(value);
    return { value, text: "", duplicates: () => [] };
  }
  const text = bodyText(body);
  const parsed = media === "yaml" ? await parseYaml(text, refuse) : parsedJson(text, parseJson(text, refuse));
  return { ...parsed, text };
}

export const parsedJson = (text: string, value: JsonValue): Parsed => ({
  value,
  duplicates: () => duplicateFields(text, value),
});

export function parseJson(text: string, refuse: (why: string, text: string) => Refusal): JsonValue {
  try {
    refuseDeepText(text);
    return parse(text);
  } catch (reason) {
    if (reason instanceof Refusal) throw reason;
    throw refuse(`json parse error: ${jsonProblem(text, reason)}`, text);
  }
}

/** The parser is loaded on first use: kubectl sends apply bodies as YAML, nobody else does. */
export async function parseYaml(text: string, refuse: (why: string, text: string) => Refusal): Promise<Parsed> {
  // JSON is YAML, and most of what calls itself YAML here is JSON.
  if (/^\s*\{/.test(text)) {
    const value = jsonOrNothing(text);
    // What Go's YAML parser reads otherwise than a JSON parser, or complains of by lines, is left to ours.
    if (value !== undefined && duplicateFields(text, value).length === 0 && numberOutOfRange(text) === undefined)
      return { value, duplicates: () => [] };
  }
  refuseDeepText(text);
  const { readYaml, UnsupportedValue } = await import("./yaml-body.ts");
  try {
    const { value, repeatedKeys } = readYaml(text);
    // Dashes and indents nest as well as brackets do, and an alias stands for a part that may be deep itself.
    refuseDeepValue(value);
    return { value, duplicates: () => yamlComplaint(repeatedKeys()) };
  } catch (reason) {
    if (reason instanceof Refusal) throw reason;
    if (reason instanceof UnsupportedValue) throw refuse(reason.message, text);
    throw refuse(`yaml: ${reason instanceof Error ? (reason.message.split("\n")[0] ?? "") : "unreadable"}`, text);
  }
}

const yamlErrors = "yaml: unmarshal errors:\n";

/** All of them are one error. */
const yamlComplaint = (lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${yamlErrors}${lines.map((line) => `  ${line}`).join("\n")}`];

function jsonOrNothing(text: string): JsonValue | undefined {
  try {
    refuseDeepText(text);
    return parse(text);
  } catch (reason) {
    if (reason instanceof Refusal) throw reason;
    return undefined;
  }
}

/** Go's words for what is wrong with a JSON text, as far as they can be told from the position of the failure. */
function jsonProblem(text: string, reason: unknown): string {
  const message = reason instanceof Error ? reason.message : "";
  if (/Unexpected end|Unterminated|after property|Expected/.test(message) && endsEarly(text, message))
    return "unexpected end of JSON input";
  const at = Number(/position (\d+)/.exec(message)?.[1] ?? "0");
  const character = text[at] ?? text[0] ?? "";
  return `invalid character ${character === "'" ? `'\\''` : `'${character}'`} looking for beginning of value`;
}

const endsEarly = (text: string, message: string): boolean => {
  const at = /position (\d+)/.exec(message)?.[1];
  return /Unexpected end/.test(message) || (at !== undefined && Number(at) >= text.trimEnd().length);
};

/** What the body was, short: as text when it starts like JSON, else in hexadecimal. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  if (text.startsWith("{")) return text.length > summaryLength ? `${text.slice(0, summaryLength)} ...` : text;
  const bytes = Buffer.from(text);
  return bytes.length > summaryLength
    ? `${bytes.subarray(0, summaryLength).toString("hex")} ...`
    : bytes.toString("hex");
}

export interface Decoding {
  readonly gates: FeatureGates;
  readonly decodeProtobuf: DecodeProtobuf;
  warn(text: string): void;
}

/** Reads the body of a create or an update of `resource`. */
export async function decodeObject(
  request: HttpRequest,
  resource: Resource,
  strictness: FieldValidation,
  decoding: Decoding,
): Promise<ApiObject> {
  const unrecognized = (why: string, text: string): Refusal =>
    badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): ${why.replace(/^(?=json parse error)/, "couldn't get version/kind; ")} (${summary(text)})`,
    );
  const { value: given, text, duplicates } = await readBody(request, decoding.decodeProtobuf, unrecognized);
  // For Go, null is a struct of which nothing is said.
  const value = given === null && resource.definition === undefined ? {} : given;
  if (!isObject(value))
    throw unrecognized(
      `json parse error: json: cannot unmarshal ${jsonWord(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
      text,
    );
  // Custom objects are decoded by what they say they are; of the others the path says enough.
  if (resource.definition !== undefined && (typeof value.kind !== "string" || value.kind === ""))
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object 'Kind' is missing in '${text}' (${summary(text)})`,
    );
  const object = recognized(value, resource);
  const unfit = `${resource.kind} in version ${goQuote(resource.version)} cannot be handled as a ${resource.kind}: `;
  // Custom objects are decoded whole; a Go type never sees the fields that it does not have.
  if (resource.definition !== undefined && mediaOf(request) === "json") refuseOutOfRange(text, unfit);
  const complaints = [
    ...(strictness === "Ignore" ? [] : duplicates()),
    ...fit(object, resource, decoding.gates).map((field) => `unknown field ${goQuote(field)}`),
  ];
  if (numberOutOfRange(text) !== undefined && holdsInfinite(object)) refuseOutOfRange(text, unfit);
  judgeComplaints(complaints, strictness, decoding.warn, (all) => badRequest(`${unfit}strict decoding error: ${all}`));
  return object;
}

export function judgeComplaints(
  complaints: readonly string[],
  strictness: FieldValidation,
  warn: (text: string) => void,
  refuse: (all: string) => Refusal,
): void {
  if (strictness === "Ignore" || complaints.length === 0) return;
  if (strictness === "Strict") throw refuse(complaints.join(", "));
  for (const complaint of complaints.flatMap(asWarnings)) warn(complaint);
}

/** Each line of a YAML error is a warning of its own. */
const asWarnings = (complaint: string): readonly string[] =>
  complaint.startsWith(yamlErrors)
    ? complaint
        .slice(yamlErrors.length)
        .split("\n")
        .map((line) => line.trim())
    : [complaint];

/** A body may leave out what the path already says; what it does say must agree. */
function recognized(value: JsonObject, resource: Resource): ApiObject {
  const expected = apiVersionOf(resource.group, resource.version);
  const { apiVersion, kind } = value;
  const assumed = resource.definition === undefined ? expected : "";
  const claimed = {
    apiVersion: typeof apiVersion === "string" && apiVersion !== "" ? apiVersion : assumed,
    kind: typeof kind === "string" && kind !== "" ? kind : resource.kind,
  };
  const metadata = value.metadata ?? {};
  if (claimed.kind !== resource.kind || claimed.apiVersion !== expected)
    throw otherKind(claimed, resource, expected, isObject(metadata) ? metadata : {});
  if (!isObject(metadata)) throw wrongMetadata(resource, metadata);
  return { ...value, ...claimed, metadata };
}

function wrongMetadata({ kind, version, definition }: Resource, metadata: JsonValue): Refusal {
  // Custom objects have no Go type of their own: only their metadata is decoded into one.
  const into = definition === undefined ? `Go struct field ${kind}.metadata` : "Go value";
  return badRequest(
    `${kind} in version ${goQuote(version)} cannot be handled as a ${kind}: json: cannot unmarshal ${jsonWord(metadata)} into ${into} of type v1.ObjectMeta`,
  );
}

interface Claimed {
  readonly apiVersion: string;
  readonly kind: string;
}

function otherKind(
  { apiVersion, kind }: Claimed,
  resource: Resource,
  expected: string,
  { name = "" }: JsonObject,
): Refusal {
  const version = apiVersion.split("/").at(-1) ?? "";
  if (resource.definition !== undefined) {
    if (kind === resource.kind)
      return badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
      );
    const mistake = fieldInvalid("kind", kind, `must be ${resource.kind}`);
    return invalid({ group: resource.group, kind }, String(name), [mistake]);
  }
  const why =
    apiVersion === expected
      ? `converting (${version}.${kind}) to (${resource.group === "" ? "core" : resource.group.split(".")[0]}.${resource.kind}): unknown conversion`
      : `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  return badRequest(`${kind} in version ${goQuote(version)} cannot be handled as a ${resource.kind}: ${why}`);
}
