/** What the tests of built-in kinds need: a context, an object as the server would have it, and errors as sentences. */

import type { ApiObject, Context, FieldError, Reader, Resource, Strategy } from "../src/apiserver/contracts.ts";
import type { JsonObject } from "../src/base/json.ts";
import { builtInShape } from "../src/schema/built-in.ts";
import { messageOf } from "../src/schema/field-error.ts";
import { createVirtualWorld } from "./virtual-world.ts";

const nothing: Reader = { get: () => undefined, list: () => [] };

export const aContext = (given: Partial<Context> & { readonly on?: readonly string[] } = {}): Context => ({
  world: createVirtualWorld(),
  gates: { enabled: (name) => given.on?.includes(name) ?? false },
  user: { name: "admin", groups: ["system:masters"] },
  reader: nothing,
  dryRun: false,
  subresource: "",
  ...given,
});

/** A row of the kind table, as short as a test wants it. */
export const row = (plural: string, kind: string, given: Partial<Resource> = {}): Resource => ({
  group: "",
  version: "v1",
  kind,
  listKind: `${kind}List`,
  plural,
  singular: kind.toLowerCase(),
  scope: "namespace",
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: {},
  collection: plural,
  storedAs: "v1",
  shape: () => undefined,
  columns: [],
  strategy: {},
  ...given,
});

/** Decoded and defaulted, as every request body is before a strategy sees it. */
export function decoded(strategy: Strategy, object: JsonObject, context = aContext()): ApiObject {
  const copy = structuredClone(object) as ApiObject;
  const [group, version] = copy.apiVersion.includes("/") ? copy.apiVersion.split("/") : ["", copy.apiVersion];
  builtInShape(group ?? "", version ?? "", copy.kind)?.prune(copy);
  strategy.defaults?.(copy, context.gates);
  return copy;
}

export interface Outcome {
  readonly object: ApiObject;
  readonly says: readonly string[];
}

const said = (errors: readonly FieldError[] | undefined): readonly string[] => (errors ?? []).map(messageOf);

export function created(strategy: Strategy, object: JsonObject, context = aContext()): Outcome {
  const copy = decoded(strategy, object, context);
  strategy.prepareForCreate?.(copy, context);
  return { object: copy, says: said(strategy.validateCreate?.(copy, context)) };
}

/** `old` is stored as it stands; `change` makes the body of the update from a copy of it. */
export function updated(
  strategy: Strategy,
  old: ApiObject,
  change: (object: JsonObject) => void,
  context = aContext(),
): Outcome {
  const body = structuredClone(old) as JsonObject;
  change(body);
  const copy = decoded(strategy, body, context);
  strategy.prepareForUpdate?.(copy, old, context);
  return { object: copy, says: said(strategy.validateUpdate?.(copy, old, context)) };
}
