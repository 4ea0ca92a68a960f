/** The entries of metadata.managedFields: who set which fields, how and when. */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { goQuote } from "../../../schema/go-text.ts";
import { type Fields, isEmpty, printFields, readFields, union } from "./fields.ts";

export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: Fields;
}

/** Who counts as the same manager: an applier whatever version it speaks, an updater per version. */
export const identityOf = ({ name, operation, apiVersion, subresource }: Omit<Manager, "time" | "fields">): string =>
  JSON.stringify([name, operation, operation === "Apply" ? "" : apiVersion, subresource]);

export type Managers = Map<string, Manager>;

const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");

/** undefined when the list cannot be understood. */
export function readManagers(raw: JsonValue | undefined): Managers | undefined {
  const managers: Managers = new Map();
  if (!Array.isArray(raw)) return managers;
  for (const entry of raw) {
    if (!isObject(entry) || (entry.operation !== "Apply" && entry.operation !== "Update")) return undefined;
    const manager: Manager = {
      name: text(entry.manager),
      operation: entry.operation,
      apiVersion: text(entry.apiVersion),
      subresource: text(entry.subresource),
      time: typeof entry.time === "string" ? entry.time : undefined,
      fields: readFields(entry.fieldsV1),
    };
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

export function printManagers(managers: Managers): JsonValue[] {
  return [...managers.values()]
    .filter(({ fields }) => !isEmpty(fields))
    .sort(byAge)
    .map(
      ({ name, operation, apiVersion, subresource, time, fields }): JsonObject => ({
        manager: name,
        operation,
        apiVersion,
        ...(time === undefined ? {} : { time }),
        fieldsType: "FieldsV1",
        fieldsV1: printFields(fields),
        ...(subresource === "" ? {} : { subresource }),
      }),
    );
}

function byAge(a: Manager, b: Manager): number {
  const keys = ({ operation, time, name, apiVersion, subresource }: Manager): readonly string[] => [
    operation,
    time ?? "",
    name,
    apiVersion,
    subresource,
  ];
  const [left, right] = [keys(a), keys(b)];
  const at = left.findIndex((key, index) => key !== right[index]);
  return at === -1 ? 0 : (left[at] ?? "") < (right[at] ?? "") ? -1 : 1;
}

/** How conflicts call a manager. */
export function describeManager({ name, operation, apiVersion, subresource }: Manager): string {
  const who = subresource === "" ? goQuote(name) : `${goQuote(name)} with subresource ${goQuote(subresource)}`;
  return operation === "Update" ? `${who} using ${apiVersion}` : who;
}

const updatersMax = 10;
const oldUpdates = "ancient-changes";

/** So that an object that many have touched does not grow without end, the oldest updaters are counted as one per version. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers.entries()].filter(([, { operation }]) => operation === "Update");
  let excess = updaters.length - updatersMax;
  if (excess <= 0) return;
  updaters.sort(([a, left], [b, right]) => {
    const [first, second] = [left.time ?? "", right.time ?? ""];
    return first === second ? (a < b ? -1 : 1) : first < second ? -1 : 1;
  });
  const firstOf = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (excess <= 0) return;
    const first = firstOf.get(manager.apiVersion);
    if (first === undefined) firstOf.set(manager.apiVersion, id);
    else {
      const bucket: Manager = { ...manager, name: oldUpdates, subresource: "" };
      const bucketId = identityOf(bucket);
      const before = managers.get(bucketId) ?? managers.get(first);
      managers.delete(first);
      managers.delete(id);
      managers.set(bucketId, { ...bucket, fields: union(manager.fields, before?.fields ?? manager.fields) });
      excess -= 1;
    }
  }
}
