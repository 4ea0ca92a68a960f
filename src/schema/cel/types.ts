/** The types of CEL, how they print, and when one will do for another. */
export type CelType =
  | { readonly kind: "simple"; readonly name: SimpleName }
  | { readonly kind: "list"; readonly of: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | { readonly kind: "optional"; readonly of: CelType }
  | { readonly kind: "type"; readonly of: CelType | undefined }
  /** Fields by their CEL names. */
  | { readonly kind: "object"; readonly name: string; fields(): ReadonlyMap<string, CelType> }
  /** Stands for whatever it is first used with. */
  | { readonly kind: "variable"; readonly id: number };

export type SimpleName =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null"
  | "dyn"
  | "error"
  | "google.protobuf.Timestamp"
  | "google.protobuf.Duration"
  | "kubernetes.URL"
  | "kubernetes.Quantity"
  | "net.IP"
  | "net.CIDR"
  | "kubernetes.NamedFormat"
  | "kubernetes.Semver";

const simple = (name: SimpleName): CelType => ({ kind: "simple", name });

export const types = {
  bool: simple("bool"),
  int: simple("int"),
  uint: simple("uint"),
  double: simple("double"),
  string: simple("string"),
  bytes: simple("bytes"),
  null: simple("null"),
  dyn: simple("dyn"),
  error: simple("error"),
  timestamp: simple("google.protobuf.Timestamp"),
  duration: simple("google.protobuf.Duration"),
  url: simple("kubernetes.URL"),
  quantity: simple("kubernetes.Quantity"),
  ip: simple("net.IP"),
  cidr: simple("net.CIDR"),
  format: simple("kubernetes.NamedFormat"),
  semver: simple("kubernetes.Semver"),
} as const;

export const listOf = (of: CelType): CelType => ({ kind: "list", of });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: "map", key, value });
export const optionalOf = (of: CelType): CelType => ({ kind: "optional", of });
export const typeOf = (of: CelType | undefined): CelType => ({ kind: "type", of });
export const variable = (id: number): CelType => ({ kind: "variable", id });

/** In declarations of functions: the A and B of `list(A)`. */
export const A = variable(-1);
export const B = variable(-2);

export const isSimple = (type: CelType, name: SimpleName): boolean => type.kind === "simple" && type.name === name;
export const isDyn = (type: CelType): boolean => isSimple(type, "dyn") || isSimple(type, "error");
export const isError = (type: CelType): boolean => isSimple(type, "error");

const shortNames: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": "timestamp",
  "google.protobuf.Duration": "duration",
  error: "!error!",
};

export function printType(type: CelType): string {
  switch (type.kind) {
    case "simple":
      return shortNames[type.name] ?? type.name;
    case "list":
      return `list(${printType(type.of)})`;
    case "map":
      return `map(${printType(type.key)}, ${printType(type.value)})`;
    case "optional":
      return `optional_type(${printType(type.of)})`;
    case "type":
      return type.of === undefined ? "type" : `type(${printType(type.of)})`;
    case "object":
      return type.name;
    case "variable":
      return `_var${type.id}`;
  }
}

/** What variables have been found to stand for. */
export type Bindings = Map<number, CelType>;

export function resolve(type: CelType, bindings: Bindings): CelType {
  if (type.kind !== "variable") return type;
  const bound = bindings.get(type.id);
  return bound === undefined ? type : resolve(bound, bindings);
}

/** Variables replaced by what they stand for, throughout; what stands for nothing becomes dyn when `isFinal`. */
export function substitute(type: CelType, bindings: Bindings, isFinal = false): CelType {
  const known = resolve(type, bindings);
  switch (known.kind) {
    case "variable":
      return isFinal ? types.dyn : known;
    case "list":
      return listOf(substitute(known.of, bindings, isFinal));
    case "map":
      return mapOf(substitute(known.key, bindings, isFinal), substitute(known.value, bindings, isFinal));
    case "optional":
      return optionalOf(substitute(known.of, bindings, isFinal));
    case "type":
      return known.of === undefined ? known : typeOf(substitute(known.of, bindings, isFinal));
    default:
      return known;
  }
}

/** Whether a value of `actual` will do where `wanted` is asked for; binds variables on the way. */
export function isAssignable(actual: CelType, wanted: CelType, bindings: Bindings): boolean {
  const [from, to] = [resolve(actual, bindings), resolve(wanted, bindings)];
  if (from.kind === "variable" || to.kind === "variable") return bind(from, to, bindings);
  if (isDyn(from) || isDyn(to)) return true;
  if (from.kind === "list" && to.kind === "list") return isAssignable(from.of, to.of, bindings);
  if (from.kind === "map" && to.kind === "map")
    return isAssignable(from.key, to.key, bindings) && isAssignable(from.value, to.value, bindings);
  if (from.kind === "optional" && to.kind === "optional") return isAssignable(from.of, to.of, bindings);
  if (from.kind === "type" && to.kind === "type") return true;
  if (from.kind === "object" && to.kind === "object") return from.name === to.name;
  if (isSimple(from, "null")) return isNullable(to);
  return from.kind === "simple" && to.kind === "simple" && from.name === to.name;
}

/** null stands in for what protobuf keeps behind a pointer: messages, times, opaque values. */
const isNullable = (type: CelType): boolean =>
  type.kind === "object" ||
  type.kind === "optional" ||
  (type.kind === "simple" && (type.name.includes(".") || type.name === "null"));

function bind(from: CelType, to: CelType, bindings: Bindings): boolean {
  if (from.kind === "variable" && to.kind === "variable" && from.id === to.id) return true;
  if (to.kind === "variable") bindings.set(to.id, from);
  else if (from.kind === "variable") bindings.set(from.id, to);
  return true;
}
