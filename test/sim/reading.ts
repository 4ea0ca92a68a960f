/** All simulated processes live in one: what comes to several of them is read once. */
import { type JsonValue, parse } from "../../src/base/json.ts";
import type { ReadText } from "../../src/kube/objects.ts";

/** Nobody changes what has been read (reading.test.ts), so that nobody can tell whether it was shared. */
export function createSharedReader(): ReadText {
  const known = new Map<string, JsonValue>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const value = parse(text);
    known.set(text, value);
    return value;
  };
}
