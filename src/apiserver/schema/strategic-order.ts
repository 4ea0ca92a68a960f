/** The order of a merged list: the patch's entries as the patch orders them, all others where they were before. */
import type { JsonValue } from "../../base/json.ts";

interface Merged {
  readonly patched: readonly JsonValue[];
  readonly untouched: readonly JsonValue[];
  /** How the patch orders its entries. */
  readonly order: readonly JsonValue[];
  /** How the list was ordered before. */
  readonly before: readonly JsonValue[];
  isSame(a: JsonValue, b: JsonValue): boolean;
}

export function normalizeOrder({ patched, untouched, order, before, isSame }: Merged): JsonValue[] {
  const placeIn = (list: readonly JsonValue[], item: JsonValue): number =>
    list.findIndex((other) => isSame(other, item));
  const left = sorted(untouched, (item) => placeIn(before, item));
  const right = sorted(patched, (item) => placeIn(order, item));
  const result: JsonValue[] = [];
  while (left.length > 0 || right.length > 0) {
    const [kept, named] = [left[0], right[0]];
    const keptFirst =
      kept !== undefined && (named === undefined || comesFirst(placeIn(before, kept), placeIn(before, named)));
    const next = (keptFirst ? left : right).shift();
    if (next !== undefined) result.push(next);
  }
  return result;
}

/** Only where both were there before is there an order to keep; else the patch's entry goes first. */
const comesFirst = (kept: number, named: number): boolean => kept >= 0 && named >= 0 && kept < named;

const sorted = (items: readonly JsonValue[], place: (item: JsonValue) => number): JsonValue[] =>
  [...items].sort((a, b) => {
    const [first, second] = [place(a), place(b)];
    return first >= 0 && second >= 0 ? first - second : 0;
  });
