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

/** A CRD of another hand may let anything pass. */
const listIn = <T>(value: readonly T[] | undefined): readonly T[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
