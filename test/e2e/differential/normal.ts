/** Takes out of an answer what differs by nature between two servers, or between two runs of one. */
import { isObject, type JsonObject, type JsonValue } from "../../../src/base/json.ts";
import type { Accepted } from "./accepted.ts";

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

/** An event is named after its object and the time, in hexadecimal. */
const eventName = /^(\S+)\.[0-9a-f]{13,16}$/;

/** Matches the version of an object that stands inside of a message. */
const version = /"resourceVersion":"\d+"/g;

const plainText = (text: string): string =>
  text
    .replace(selfType, "<self>")
    .replace(uuid, "<uid>")
    .replace(time, "<time>")
    .replace(address, "<address>")
    .replace(eventName, "$1.<event>")
    .replace(version, '"resourceVersion":"<version>"')
    .replace(/\bin record \(\d+\)/g, "in record (<version>)")
    .replace(/(Too large resource version: \d+, current: )\d+/, "$1<version>")
    .replace(/(too old resource version: \d+ \()\d+/, "$1<version>");

/** Who owns which field is compared by the scripts that are about it, and left out everywhere else. */
export interface How {
  readonly managedFields: boolean;
  /** The differences that are taken out. */
  readonly accepted: readonly Accepted[];
}

export function normal(value: JsonValue | undefined, how: How, key = ""): JsonValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return normalText(value, how, key);
  if (typeof value === "number" && words[key] !== undefined) return words[key] ?? value;
  if (Array.isArray(value))
    return inOrder(
      key,
      value.map((item) => normal(item, how)),
    );
  return isObject(value) ? normalObject(sortedCauses(value), how) : value;
}

/**
 * The real server lists these as its memory happens to hold them; managers by age in whole seconds,
 * and the second may pass on one side before it does on the other.
 */
const unordered = ["resourceRules", "nonResourceRules", "conditions", "managedFields"];
const inOrder = (key: string, list: JsonValue[]): JsonValue[] => (unordered.includes(key) ? list.sort(byText) : list);

function normalText(text: string, { accepted }: How, key: string): string {
  if (words[key] !== undefined && text !== "" && text !== "0") return words[key] ?? text;
  return accepted.reduce((current, { change }) => change(current), plainText(text));
}

/** Cells of a table: ages, and times as people read them. */
const age = /^(\d+[smhdy])+$|^<unknown>$|^<invalid>$/;

function normalObject(object: JsonObject, how: How): JsonObject {
  if (Array.isArray(object.cells))
    return normalObject(
      { ...object, cells: undefined, shown: object.cells.map((cell) => (age.test(String(cell)) ? "<age>" : cell)) },
      how,
    );
  // What a column means is said in our own words.
  if (Array.isArray(object.columnDefinitions))
    return normalObject(
      { ...object, columnDefinitions: undefined, columns: object.columnDefinitions.map(undescribed) },
      how,
    );
  const entries = Object.entries(object).filter(([key]) => how.managedFields || key !== "managedFields");
  return Object.fromEntries(entries.map(([key, value]) => [plainText(key), normal(value, how, key)]));
}

/** The real server goes through maps in random order, so several errors come in any: the causes say all that the message does. */
function sortedCauses(object: JsonObject): JsonObject {
  const { kind, details, message } = object;
  if (kind !== "Status" || !isObject(details) || !Array.isArray(details.causes) || details.causes.length < 2)
    return object;
  const causes = [...details.causes].sort(byText);
  const shortened =
    typeof message === "string"
      ? message.replace(/(is invalid: \[|Apply failed with \d+ conflicts: )[\s\S]*$/, "$1…")
      : message;
  return { ...object, details: { ...details, causes }, ...(shortened === undefined ? {} : { message: shortened }) };
}

const sortedKeys = (value: JsonValue): JsonValue =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** Whatever order the fields of each came in. */
const byText = (a: JsonValue, b: JsonValue): number =>
  JSON.stringify(sortedKeys(a)) < JSON.stringify(sortedKeys(b)) ? -1 : 1;

const undescribed = (column: JsonValue): JsonValue => (isObject(column) ? { ...column, description: "" } : column);
