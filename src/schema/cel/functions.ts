/** How functions are declared: by types, for the checker, and by what they do. */
import type { CelType } from "./types.ts";
import { CelFault, isList, isMap, isTagged, type ListValue, type MapValue, typeNameOf, type Value } from "./value.ts";

export interface Overload {
  readonly member: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  run(args: readonly Value[]): Value;
}

export type Library = Readonly<Record<string, readonly Overload[]>>;

export const fn = (args: readonly CelType[], result: CelType, run: Overload["run"]): Overload => ({
  member: false,
  args,
  result,
  run,
});
export const method = (args: readonly CelType[], result: CelType, run: Overload["run"]): Overload => ({
  ...fn(args, result, run),
  member: true,
});

/** For the functions that only ask whether a text is one of a kind: isURL, isIP. */
export const isReadable = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

/** Several libraries may add overloads to one name. */
export function mergeLibraries(...libraries: readonly Library[]): ReadonlyMap<string, readonly Overload[]> {
  const merged = new Map<string, readonly Overload[]>();
  for (const library of libraries)
    for (const [name, overloads] of Object.entries(library))
      merged.set(name, [...(merged.get(name) ?? []), ...overloads]);
  return merged;
}

const noOverload = (): CelFault => new CelFault("no such overload");

/** Arguments as what the declared types promise. */
export function text(value: Value | undefined): string {
  if (typeof value !== "string") throw noOverload();
  return value;
}
export function integer(value: Value | undefined): bigint {
  if (typeof value !== "bigint") throw noOverload();
  return value;
}
export function list(value: Value | undefined): ListValue {
  if (value === undefined || !isList(value)) throw noOverload();
  return value;
}
export function map(value: Value | undefined): MapValue {
  if (value === undefined || !isMap(value)) throw noOverload();
  return value;
}
export function nanosOf(value: Value | undefined): bigint {
  if (value === undefined || !isTagged(value) || !("nanos" in value)) throw noOverload();
  return value.nanos;
}
export function opaqueData<T>(value: Value | undefined, type: string): T {
  if (value === undefined || !isTagged(value) || value.kind !== "opaque" || value.type !== type) throw noOverload();
  return value.data as T;
}

const simpleNames: Readonly<Record<string, string>> = { null: "null_type" };

/** Whether a value is of a declared type, as far as can be seen without looking inside of it. */
export function fits(value: Value, type: CelType): boolean {
  if (type.kind === "variable") return true;
  if (type.kind === "simple") return type.name === "dyn" || typeNameOf(value) === (simpleNames[type.name] ?? type.name);
  if (type.kind === "list" || type.kind === "map" || type.kind === "type")
    return isTagged(value) && value.kind === type.kind;
  if (type.kind === "optional") return isTagged(value) && value.kind === "optional";
  return isMap(value);
}
