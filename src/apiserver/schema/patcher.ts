/** `Patcher` for the API server: strategic merge and server-side apply, by whichever schema a resource has. */

import { schemaOf } from "../../schema/custom.ts";
import { anything, type SchemaNode } from "../../schema/node.ts";
import type { Patcher, Resource } from "../contracts.ts";
import { badRequest, unsupportedMediaType } from "../status.ts";
import { applyObject, trackUpdate } from "./apply/apply.ts";
import { builtInNode, definitionNode } from "./builtin.ts";
import { applyStrategicPatch } from "./strategic.ts";

const nodes = new WeakMap<object, Map<string, SchemaNode>>();

/** A custom resource's schema says nothing of metadata; for ownership it is the metadata every object has. */
function customNode(definition: NonNullable<Resource["definition"]>, version: string): SchemaNode {
  const made = nodes.get(definition) ?? new Map<string, SchemaNode>();
  nodes.set(definition, made);
  const known = made.get(version);
  if (known !== undefined) return known;
  const schema = schemaOf(definition, version);
  const metadata = definitionNode("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  const text: SchemaNode = { ...anything, types: ["string"] };
  const properties = new Map([
    ...schema.properties,
    ["apiVersion", text],
    ["kind", text],
    ["metadata", metadata],
  ] as const);
  const node: SchemaNode = { ...schema, properties };
  made.set(version, node);
  return node;
}

export const nodeOf = ({ definition, group, version, kind }: Resource): SchemaNode =>
  definition === undefined ? (builtInNode(group, version, kind) ?? anything) : customNode(definition, version);

export interface PatcherOptions {
  /** Whether ordinary writes are recorded in managedFields; apply always is. */
  readonly trackUpdates: boolean;
}

export function createPatcher({ trackUpdates }: PatcherOptions): Patcher {
  return {
    strategic: (resource, current, patch) => {
      if (resource.definition !== undefined)
        throw unsupportedMediaType(
          "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor",
        );
      return applyStrategicPatch(nodeOf(resource), current, patch) as typeof current;
    },
    apply: (request) => {
      if (request.manager === "")
        throw badRequest(
          'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
        );
      return applyObject(nodeOf(request.resource), request);
    },
    track: (request) =>
      trackUpdates || request.before?.metadata.managedFields !== undefined
        ? trackUpdate(nodeOf(request.resource), request)
        : undefined,
  };
}
