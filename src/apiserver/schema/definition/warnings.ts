/** What a definition is warned of: formats that nobody checks. */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { object, objects, text, versionsOf } from "../../../schema/fields.ts";
import { isKnownFormat } from "../../../schema/formats.ts";
import { goQuote } from "../../../schema/go-text.ts";

/** Those that were there before are not told again. */
export function definitionWarnings(definition: JsonObject, old: JsonObject | undefined): readonly string[] {
  const before = new Set(old === undefined ? [] : unknownFormatsOf(old));
  return unknownFormatsOf(definition)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

const unknownFormatsOf = (definition: JsonObject): readonly string[] =>
  versionsOf(definition).flatMap((version) => unknownFormats(object(version.schema).openAPIV3Schema));

function unknownFormats(schema: JsonValue | undefined): readonly string[] {
  if (!isObject(schema)) return [];
  const format = text(schema.format);
  return [
    ...(format === "" || isKnownFormat(text(schema.type), format) ? [] : [format]),
    ...schemasIn(schema).flatMap(unknownFormats),
  ];
}

const schemasIn = (schema: JsonObject): readonly (JsonValue | undefined)[] => [
  ...(Array.isArray(schema.items) ? schema.items : [schema.items]),
  ...["allOf", "anyOf", "oneOf"].flatMap((junction) => objects(schema[junction])),
  schema.not,
  ...Object.values(object(schema.properties)),
  schema.additionalProperties,
];
