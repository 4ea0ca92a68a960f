/** Plain objects with the words of the kind table filled in. Names are computed, so creating twice is harmless. */
import type { Millis } from "../base/brand.ts";
import { rfc3339 } from "../base/time.ts";
import { apiVersionOf, type KindName } from "./kinds.ts";
import type { CodedMessage, Ref } from "./plan.ts";
import type { Draft, KubeObject, ObjectOf } from "./types.ts";

/** Everything of the kind but what the table and the server fill in. */
type BodyOf<K extends KindName> = Omit<ObjectOf<K>, "apiVersion" | "kind" | "metadata" | "status">;

export const draftOf = <K extends KindName>(
  kind: K,
  metadata: Draft["metadata"],
  body: BodyOf<K>,
): Draft<ObjectOf<K>> => ({ apiVersion: apiVersionOf(kind), kind, metadata, ...body }) as unknown as Draft<ObjectOf<K>>;

/** Points at exactly this incarnation of an object. */
export const refOf = <K extends KindName>(kind: K, { metadata }: KubeObject): Ref<K> => ({
  kind,
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
});

/** status.error of a VolumeSnapshot or a VolumeSnapshotContent. */
export const statusError = (message: CodedMessage, nowMs: Millis) => ({ message, time: rfc3339(nowMs) });
