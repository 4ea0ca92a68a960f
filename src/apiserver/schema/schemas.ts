/** `Schemas` for the API server: built-in kinds by their Go types, custom ones by their definitions. */

import { builtInShape } from "../../schema/built-in.ts";
import { createCustomShape } from "../../schema/custom.ts";
import type { ApiObject, Schemas, Shape } from "../contracts.ts";
import { judgeRules } from "./definition/rules.ts";
import { definitionShape } from "./definition/shape.ts";
import { createDefinitionStrategy } from "./definition/strategy.ts";

/** One definition object is never changed, so what was made of it holds as long as it lives. */
const customShapes = new WeakMap<ApiObject, Map<string, Shape>>();

function customShape(definition: ApiObject, version: string): Shape {
  const made = customShapes.get(definition) ?? new Map<string, Shape>();
  customShapes.set(definition, made);
  const shape = made.get(version) ?? createCustomShape(definition, version);
  made.set(version, shape);
  return shape;
}

export const schemas: Schemas = {
  builtIn: (group, version, kind) =>
    group === "apiextensions.k8s.io" && kind === "CustomResourceDefinition"
      ? definitionShape
      : builtInShape(group, version, kind),
  custom: customShape,
  definitions: createDefinitionStrategy(judgeRules),
};
