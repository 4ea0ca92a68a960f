/** The shape of a built-in kind: its Go type. `Schemas.builtIn` can be made of this. */
import type { Shape } from "./contracts.ts";
import { DecodeError } from "./decode-error.ts";
import { fitToGo } from "./go/fit.ts";
import { GoValueError } from "./go/opaque.ts";
import { type GoStruct, goStruct } from "./go/types.ts";

export function builtInShape(group: string, version: string, kind: string): Shape | undefined {
  const struct = goStruct(group === "" ? version : `${group}/${version}`, kind);
  return struct && shapeOf(struct, version, kind);
}

/** The shape of claims with more fields in their spec, each of the type of dataSourceRef. */
export function claimShapeWith(...names: readonly string[]): Shape {
  const claim = goStruct("v1", "PersistentVolumeClaim");
  const spec = claim?.byName.get("spec");
  if (claim === undefined || spec?.type.kind !== "struct") throw new Error("claims have no spec");
  const ofSpec = spec.type.fields();
  const ref = ofSpec.fields.filter(({ name }) => name === "dataSourceRef");
  const more = structWith(ofSpec, [
    ...ofSpec.fields,
    ...names.flatMap((name) => ref.map((field) => ({ ...field, name }))),
  ]);
  const type = { ...spec.type, fields: () => more };
  return shapeOf(
    structWith(
      claim,
      claim.fields.map((field) => (field.name === "spec" ? { ...field, type } : field)),
    ),
    "v1",
    "PersistentVolumeClaim",
  );
}

const structWith = ({ name }: GoStruct, fields: GoStruct["fields"]): GoStruct => ({
  name,
  fields,
  byName: new Map(fields.map((field) => [field.name, field])),
});

function shapeOf(struct: GoStruct, version: string, kind: string): Shape {
  return {
    prune: (object) => {
      try {
        const fitted = fitToGo(struct, object);
        for (const key of Object.keys(object)) delete object[key];
        Object.assign(object, fitted.object);
        return fitted.unknown;
      } catch (reason) {
        if (!(reason instanceof GoValueError)) throw reason;
        throw new DecodeError(`${kind} in version "${version}" cannot be handled as a ${kind}: ${reason.message}`);
      }
    },
    // What has a default, and what is valid, is said by the kind's strategy.
    defaults: () => undefined,
    validate: () => [],
  };
}
