/** The label value that tells the objects of one provisioner from those of others, letter for letter that of external-provisioner. */
import { fnv1a } from "../../../base/fnv.ts";

const base = "external-provisioner";
/** A label value has no more. */
const charsMax = 63;

const hashOf = (text: string): string => fnv1a(text).toString(16).padStart(8, "0");

/** `node`: of a provisioner that runs on every node. Long names are shortened, and a hash takes the place of what is left out. */
export function managedByOf(node: string | undefined): string {
  const name = node === undefined ? base : `${base}-${node}`;
  if (node === undefined || name.length <= charsMax) return name;
  const left = charsMax - "-hashhash-".length - node.length;
  return left > 0 ? `${base.slice(0, left)}-${hashOf(base)}-${node}` : `${base}-${hashOf(name)}`;
}
