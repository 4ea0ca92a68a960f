/** What the scale subresource reads must be readable: the replica counts whole and not negative, the selector a text. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { goValue } from "../go-text.ts";
import { object, text } from "./definition/view.ts";

const replicasMax = 2 ** 31 - 1;

export function scaleErrors(
  subresources: JsonValue | undefined,
  value: JsonObject,
  subresource: string,
): readonly FieldError[] {
  const { scale } = object(subresources);
  if (!isObject(scale)) return [];
  const selector = text(scale.labelSelectorPath);
  return [
    ...(subresource === "status" ? [] : replicaErrors(text(scale.specReplicasPath), value)),
    ...replicaErrors(text(scale.statusReplicasPath), value),
    ...(selector === "" ? [] : selectorErrors(selector, value)),
  ];
}

type Found =
  | { readonly kind: "value"; readonly value: JsonValue | undefined }
  | { readonly kind: "error"; readonly words: string };

const goTypeOf = (value: JsonValue): string => {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : Number.isInteger(Number(value)) ? "int64" : "float64";
};

const misfit = (path: string, value: JsonValue, wanted: string): string =>
  `${path} accessor error: ${goValue(value)} is of the type ${goTypeOf(value)}, expected ${wanted}`;

function find(path: string, root: JsonObject): Found {
  let at: JsonValue | undefined = root;
  const names = path.replace(/^\./, "").split(".");
  for (const [index, name] of names.entries()) {
    if (at === undefined || at === null) return { kind: "value", value: undefined };
    if (!isObject(at))
      return { kind: "error", words: misfit(`.${names.slice(0, index + 1).join(".")}`, at, "map[string]interface{}") };
    at = at[name];
  }
  return { kind: "value", value: at ?? undefined };
}

function replicaErrors(path: string, root: JsonObject): readonly FieldError[] {
  const found = find(path, root);
  if (found.kind === "error") return [invalid(path, 0, found.words)];
  const { value } = found;
  if (value === undefined) return [];
  if (goTypeOf(value) !== "int64") return [invalid(path, 0, misfit(path, value, "int64"))];
  if (Number(value) < 0) return [invalid(path, value, "should be a non-negative integer")];
  return Number(value) > replicasMax ? [invalid(path, value, `should be less than or equal to ${replicasMax}`)] : [];
}

function selectorErrors(path: string, root: JsonObject): readonly FieldError[] {
  const found = find(path, root);
  if (found.kind === "error") return [invalid(path, "", found.words)];
  const { value } = found;
  return value === undefined || typeof value === "string" ? [] : [invalid(path, "", misfit(path, value, "string"))];
}
