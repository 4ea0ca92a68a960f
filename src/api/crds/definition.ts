/** A CustomResourceDefinition of a kind of the table, in all of its versions. */
import type { JsonObject } from "../../base/json.ts";
import { type KindName, kindRows } from "../kinds.ts";
import type { ObjectOf } from "../types.ts";
import type { CrdDraft } from "./index.ts";

export interface CrdTemplate {
  readonly schema: JsonObject | ((version: string) => JsonObject);
  readonly annotations: Readonly<Record<string, string>>;
  /** The version that is stored; the preferred one unless said otherwise. */
  readonly storage?: string;
  /** What each version has beside its schema. */
  readonly more?: object | ((version: string) => object);
}

export function crdFrom(kind: KindName, { schema, annotations, storage, more = {} }: CrdTemplate): CrdDraft {
  const { group, plural, singular, scope, shortNames, versions } = kindRows[kind];
  const stored = storage ?? versions[0];
  const spec = {
    group,
    scope: scope === "cluster" ? "Cluster" : "Namespaced",
    names: { kind, listKind: `${kind}List`, plural, singular, ...(shortNames === undefined ? {} : { shortNames }) },
    versions: versions.map((name) => ({
      name,
      served: true,
      storage: name === stored,
      schema: { openAPIV3Schema: typeof schema === "function" ? schema(name) : schema },
      ...(typeof more === "function" ? more(name) : more),
    })),
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, annotations },
    spec: spec as unknown as NonNullable<ObjectOf<"CustomResourceDefinition">["spec"]>,
  };
}
