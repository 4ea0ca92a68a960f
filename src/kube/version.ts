/**
 * Resource versions. Kubernetes promises that versions of one resource are decimal numbers that grow; they exceed 2^53,
 * so they are compared as text. Whatever is not such a number is opaque: then only arrival order counts.
 */
const decimal = /^[1-9]\d*$/;

/** Negative, zero or positive as `a` is older than, the same as or newer than `b`; undefined when they cannot be compared. */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  return a.length - b.length || (a < b ? -1 : 1);
}

/** When two versions cannot be compared, the one that arrives last counts: both answers are no. */
export const isNewer = (a: string, b: string): boolean => (compareResourceVersions(a, b) ?? 0) > 0;
export const isSameOrOlder = (a: string, b: string): boolean => (compareResourceVersions(a, b) ?? 1) <= 0;
