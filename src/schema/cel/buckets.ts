/** Finding equal values among many without comparing each with each: only those that share a text can be equal. */
import { celEquals, textFor, type Value } from "./value.ts";

export interface Buckets<T> {
  find(value: Value): T | undefined;
  /** A value that is there already stays what it was. */
  add(value: Value, as: T): void;
}

export function createBuckets<T>(): Buckets<T> {
  const byText = new Map<string, (readonly [Value, T])[]>();
  return {
    find: (value) => byText.get(textFor(value))?.find(([other]) => celEquals(other, value))?.[1],
    add(value, as) {
      const text = textFor(value);
      const bucket = byText.get(text);
      if (bucket === undefined) byText.set(text, [[value, as]]);
      else bucket.push([value, as]);
    },
  };
}

export function bucketsOf(values: readonly Value[]): Buckets<number> {
  const buckets = createBuckets<number>();
  for (const [index, value] of values.entries()) buckets.add(value, index);
  return buckets;
}
