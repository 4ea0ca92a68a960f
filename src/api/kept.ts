/**
 * What caches keep of an object: of the kinds below only what plans read. A field that is not kept does not compile where a cache is read. A
 * kind that is not here is kept whole, above all one that is written back as it was read.
 */
import type { KindName } from "./kinds.ts";
import type { KubeObject, Node, ObjectOf } from "./types.ts";

/** A Node is 10 to 20 KB: images, and conditions that change every minute. Only its name and labels decide anything. */
export interface KeptNode extends KubeObject {
  readonly kind: "Node";
  readonly spec?: never;
  readonly status?: never;
}

const keptOfNode = ({ apiVersion, kind, metadata }: Node): KeptNode => {
  const { name, uid, resourceVersion, labels } = metadata;
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, ...(labels === undefined ? {} : { labels }) } };
};

/** An object as a cache has it. */
export type KeptOf<K extends KindName> = K extends "Node" ? KeptNode : ObjectOf<K>;

export const keptOf = <K extends KindName>(object: ObjectOf<K>): KeptOf<K> =>
  (isNode(object) ? keptOfNode(object) : object) as KeptOf<K>;

const isNode = (object: KubeObject): object is Node => object.kind === "Node" && object.apiVersion === "v1";
