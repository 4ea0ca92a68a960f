/**
 * How deep a document may be nested. Nearly every step of a request walks its object by recursion, down to the text it is stored
 * as: one that no walk can reach the end of would be stored, and could never again be listed or watched.
 */
import type { JsonValue } from "../base/json.ts";
import { badRequest, type Refusal } from "./status.ts";

/** Half of what the walks bear. Go's parser stops at ten times as much, with the same words. */
export const nestingMax = 1_000;

const tooDeep = (): Refusal => badRequest("couldn't get version/kind; json parse error: exceeded max depth");

const quote = 34;
const backslash = 92;
const [openList, closeList] = [91, 93];
const [openObject, closeObject] = [123, 125];

/** Before a text is parsed. What each level opens must be closed again, so a short text cannot be deep. */
export function refuseDeepText(text: string): void {
  if (text.length < 2 * nestingMax) return;
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (quoted) {
      if (code === backslash) index += 1;
      else if (code === quote) quoted = false;
    } else if (code === quote) quoted = true;
    else if (code === openObject || code === openList) depth += 1;
    else if (code === closeObject || code === closeList) depth -= 1;
    if (depth > nestingMax) throw tooDeep();
  }
}

/** For what did not come as JSON, or was put together from parts. */
export function refuseDeepValue(value: JsonValue | undefined, depth = 0): void {
  if (typeof value !== "object" || value === null) return;
  if (depth === nestingMax) throw tooDeep();
  for (const key in value) refuseDeepValue((value as Record<string, JsonValue>)[key], depth + 1);
}
