/** Whether the owner of a namespace lets an object of another namespace refer to one in it. Whatever is not granted is denied. */
import type { ReferenceGrant } from "../api/types.ts";

/** Who refers. */
export interface GrantFrom {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
}
/** What is referred to. */
export interface GrantTo {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Both sides must be named by one and the same grant, which stands in the namespace referred to. Groups, kinds and names are compared
 * as they are; there are no wildcards but a name left out, which stands for all.
 */
export const grantAllows = ({ metadata, spec }: ReferenceGrant, from: GrantFrom, to: GrantTo): boolean =>
  metadata.namespace === to.namespace &&
  listIn(spec?.from).some(
    (item) => item.group === from.group && item.kind === from.kind && item.namespace === from.namespace,
  ) &&
  listIn(spec?.to).some(
    (item) =>
      item.group === to.group &&
      item.kind === to.kind &&
      (item.name === undefined || item.name === "" || item.name === to.name),
  );

/** Who may be waiting for the grant. */
export const referrersIn = ({ spec }: ReferenceGrant): readonly GrantFrom[] =>
  listIn(spec?.from).flatMap(({ group = "", kind = "", namespace }) =>
    typeof namespace === "string" ? [{ group, kind, namespace }] : [],
  );

/**
 * Under which keys a grant is found, and which keys a reference asks for: the same answer as `grantAllows`, without looking at
 * all grants of a namespace. A name left out has a key of its own.
 */
export const keysOfGrant = ({ metadata, spec }: ReferenceGrant): readonly string[] =>
  listIn(spec?.from).flatMap((from) =>
    listIn(spec?.to).map((to) => keyOf(from, { ...to, namespace: metadata.namespace, name: to.name || undefined })),
  );
export const keysOfReference = (from: GrantFrom, to: GrantTo): readonly [string, string] => [
  keyOf(from, to),
  keyOf(from, { ...to, name: undefined }),
];

/** As JSON: whatever a CRD lets pass, two different references never share a key. */
const keyOf = (from: Partial<GrantFrom>, to: Partial<Record<keyof GrantTo, string | undefined>>): string =>
  JSON.stringify([from.group, from.kind, from.namespace, to.group, to.kind, to.namespace, to.name]);

/** A CRD of another hand may let anything pass. */
const listIn = <T>(value: readonly T[] | undefined): readonly T[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
