/** Takes out of an answer what differs by nature between two servers, or between two runs of one. */
import { isObject, type JsonObject, type JsonValue } from "../../../src/base/json.ts";

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const address = /\b10\.96\.\d+\.\d+\b/g;

const words: Readonly<Record<string, string>> = {
  resourceVersion: "<version>",
  nodePort: "<port>",
  continue: "<continue>",
};

/** Kubernetes makes up a new name for the type of a rule's `self` each time. */
const selfType = /selfType\d+/g;

/** Of an object that stands inside of a message. */
const version = /"resourceVersion":"\d+"/g;

const plainText = (text: string): string =>
  text
    .replace(selfType, "<self>")
    .replace(uuid, "<uid>")
    .replace(time, "<time>")
    .replace(address, "<address>")
    .replace(version, '"resourceVersion":"<version>"');

/**
 * Where we differ from the real server on purpose. Each is a change to both answers before they are compared; a test
 * makes sure that each is still needed.
 */
export const accepted: readonly { readonly why: string; readonly change: (text: string) => string }[] = [
  {
    why: "after a line break, the real server prints a difference of internal Go structs; we name the changed fields",
    change: (text) =>
      text.replace(/( is immutable after creation| it was previously negative\)|for bound claims)\n[\s\S]*$/, "$1"),
  },
  {
    why: "why a webhook's answer cannot be read, or its patch not applied, is said in our own words",
    change: (text) =>
      text
        .replace(/couldn't get version\/kind; json parse error: .*|the webhook's answer is not JSON/, "<not JSON>")
        .replace(/EOF$|the connection to \S+ was cut before the answer was complete \(ECONNRESET\)$/, "<cut>")
        .replace(
          /add operation does not apply: .*|the server rejected our request due to an error in our request$/,
          "<does not apply>",
        ),
  },
  {
    why: "a validating webhook is shown a new claim's phase, which the real server fills in only when it stores the claim",
    change: (text) => text.replaceAll('"status":{"phase":"Pending"}', '"status":{}'),
  },
  {
    why: "an object that a patch made unreadable is shown with its keys in another order",
    change: (text) => text.replace(/(Invalid value: )"\{\\".*\}": /s, '$1"<object>": '),
  },
];

/** Who owns which field is compared by the scripts that are about it, and left out everywhere else. */
export interface Keep {
  readonly managedFields: boolean;
}

export function normal(
  value: JsonValue | undefined,
  touched: Set<string>,
  keep: Keep = { managedFields: false },
  key = "",
): JsonValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return normalText(value, touched, key);
  if (typeof value === "number" && words[key] !== undefined) return words[key] ?? value;
  if (Array.isArray(value))
    return inOrder(
      key,
      value.map((item) => normal(item, touched, keep)),
    );
  return isObject(value) ? normalObject(sortedCauses(value), touched, keep) : value;
}

/** The real server lists these as its memory happens to hold them. */
const unordered = ["resourceRules", "nonResourceRules", "conditions"];
const inOrder = (key: string, list: JsonValue[]): JsonValue[] =>
  unordered.includes(key) ? list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : list;

function normalText(text: string, touched: Set<string>, key: string): string {
  if (words[key] !== undefined && text !== "" && text !== "0") return words[key] ?? text;
  return accepted.reduce((current, { why, change }) => {
    const changed = change(current);
    if (changed !== current) touched.add(why);
    return changed;
  }, plainText(text));
}

function normalObject(object: JsonObject, touched: Set<string>, keep: Keep): JsonObject {
  const entries = Object.entries(object).filter(([key]) => keep.managedFields || key !== "managedFields");
  return Object.fromEntries(entries.map(([key, value]) => [plainText(key), normal(value, touched, keep, key)]));
}

/** The real server goes through maps in random order, so several errors come in any: the causes say all that the message does. */
function sortedCauses(object: JsonObject): JsonObject {
  const { kind, details, message } = object;
  if (kind !== "Status" || !isObject(details) || !Array.isArray(details.causes) || details.causes.length < 2)
    return object;
  const causes = [...details.causes].sort((a, b) =>
    JSON.stringify(sortedKeys(a)) < JSON.stringify(sortedKeys(b)) ? -1 : 1,
  );
  const shortened =
    typeof message === "string"
      ? message.replace(/(is invalid: \[|Apply failed with \d+ conflicts: )[\s\S]*$/, "$1…")
      : message;
  return { ...object, details: { ...details, causes }, ...(shortened === undefined ? {} : { message: shortened }) };
}

const sortedKeys = (value: JsonValue): JsonValue =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
