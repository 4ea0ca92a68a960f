/** Secret and ConfigMap: keyed data of limited size that can be made immutable. */
import type { ConfigMap, Secret } from "kubernetes-types/core/v1.js";
import { equal, isObject } from "../../base/json.ts";
import { forbidden, indexed, invalid, required, tooLong } from "../../schema/field-error.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import { as, immutableField, setDefault } from "./check.ts";

const dataBytesMax = 1024 * 1024;
const keyBytesMax = 253;
const keyFormat = "[-._a-zA-Z0-9]+";
const keyPattern = /^[-._a-zA-Z0-9]+$/;

function keyProblems(key: string): readonly string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(key) > keyBytesMax) problems.push(`must be no more than ${keyBytesMax} characters`);
  if (!keyPattern.test(key))
    problems.push(
      `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${keyFormat}')`,
    );
  if (key === ".") problems.push("must not be '.'");
  else if (key === "..") problems.push("must not be '..'");
  else if (key.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

const keyErrors = (field: string, data: Readonly<Record<string, string>>): readonly FieldError[] =>
  Object.keys(data).flatMap((key) => keyProblems(key).map((problem) => invalid(indexed(field, key), key, problem)));

const textBytes = (data: Readonly<Record<string, string>>): number =>
  Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
const encodedBytes = (data: Readonly<Record<string, string>>): number =>
  Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text, "base64"), 0);

const sealed = "field is immutable when `immutable` is set";

/** What an immutable object may not change; labels and the like it may. */
function sealErrors(object: ApiObject, old: ApiObject, fields: readonly string[]): readonly FieldError[] {
  if (old.immutable !== true) return [];
  const errors = object.immutable === true ? [] : [forbidden("immutable", sealed)];
  for (const field of fields) if (!equal(object[field] ?? {}, old[field] ?? {})) errors.push(forbidden(field, sealed));
  return errors;
}

export const configMapStrategy: Strategy = {
  validateCreate: (object) => configMapErrors(object),
  validateUpdate: (object, old) => [...sealErrors(object, old, ["data", "binaryData"]), ...configMapErrors(object)],
};

function configMapErrors(object: ApiObject): readonly FieldError[] {
  const { data = {}, binaryData = {} } = as<ConfigMap>(object);
  const errors = [...keyErrors("data", data)];
  for (const key of Object.keys(data))
    if (Object.hasOwn(binaryData, key))
      errors.push(invalid(indexed("data", key), key, "duplicate of key present in binaryData"));
  errors.push(...keyErrors("binaryData", binaryData));
  if (textBytes(data) + encodedBytes(binaryData) > dataBytesMax) errors.push(tooLong("[]", dataBytesMax));
  return errors;
}

export const secretStrategy: Strategy = {
  defaults: (object) => {
    setDefault(object, "type", "Opaque");
    // stringData is for writing only: it becomes data, and wins.
    if (isObject(object.stringData)) {
      const encoded = Object.entries(object.stringData).map(([key, text]) => [
        key,
        Buffer.from(String(text)).toString("base64"),
      ]);
      object.data = { ...(isObject(object.data) ? object.data : {}), ...Object.fromEntries(encoded) };
    }
    delete object.stringData;
  },
  validateCreate: (object) => secretErrors(object),
  validateUpdate: (object, old) => [
    ...immutableField("type", object.type, old.type),
    ...sealErrors(object, old, ["data"]),
    ...secretErrors(object),
  ],
};

function secretErrors(object: ApiObject): readonly FieldError[] {
  const { data = {}, type = "" } = as<Secret>(object);
  return [
    ...keyErrors("data", data),
    ...(encodedBytes(data) > dataBytesMax ? [tooLong("data", dataBytesMax)] : []),
    ...typeErrors(object, type, data),
  ];
}

const accountKey = "kubernetes.io/service-account.name";

function typeErrors(object: ApiObject, type: string, data: Readonly<Record<string, string>>): readonly FieldError[] {
  const missing = (...keys: readonly string[]): readonly FieldError[] =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(indexed("data", key)));
  switch (type) {
    case "kubernetes.io/service-account-token":
      return (object.metadata.annotations?.[accountKey] ?? "") === ""
        ? [required(indexed("metadata.annotations", accountKey))]
        : [];
    case "kubernetes.io/dockercfg":
      return jsonErrors(data, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return jsonErrors(data, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return Object.hasOwn(data, "username") || Object.hasOwn(data, "password") ? [] : missing("username", "password");
    case "kubernetes.io/ssh-auth":
      return (data["ssh-privatekey"] ?? "") === "" ? [required(indexed("data", "ssh-privatekey"))] : [];
    case "kubernetes.io/tls":
      return missing("tls.crt", "tls.key");
    default:
      return [];
  }
}

function jsonErrors(data: Readonly<Record<string, string>>, key: string): readonly FieldError[] {
  const encoded = data[key];
  if (encoded === undefined) return [required(indexed("data", key))];
  try {
    if (isObject(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")))) return [];
  } catch {
    // Answered below: the text itself must not be shown.
  }
  return [invalid(indexed("data", key), "<secret contents redacted>", "the content is not a JSON object")];
}
