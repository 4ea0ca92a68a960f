/** All simulated processes live in one, with the server: what comes to several of them is read once, what was stored not at all. */
import { isObject, type JsonObject, type JsonValue, parse } from "../../src/base/json.ts";
import type { ReadText } from "../../src/kube/objects.ts";

export interface SharedReader {
  readonly read: ReadText;
  /** To be told of what the server has stored, and how it words it. */
  learn(text: string, object: JsonObject): void;
}

const eventHead = '{"type":"';
const objectMember = ',"object":';
/** Types of events are short. */
const headMax = 30;

/** Nobody changes what has been read below its top (reading.test.ts), so that nobody can tell whether it was shared. */
export function createSharedReader(): SharedReader {
  const known = new Map<string, JsonValue>();

  function knownEvent(text: string): JsonValue | undefined {
    if (!text.startsWith(eventHead)) return undefined;
    const at = text.indexOf(objectMember);
    if (at === -1 || at > headMax) return undefined;
    const object = known.get(text.slice(at + objectMember.length, -1));
    // The quotation mark before the comma is not part of the type.
    return object === undefined ? undefined : { type: text.slice(eventHead.length, at - 1), object: ownTop(object) };
  }

  return {
    learn: (text, object) => void known.set(text, object),
    read: (text) => {
      // As kube-apiserver does, ours ends an answer with a new line.
      const before = known.get(text.endsWith("\n") ? text.slice(0, -1) : text);
      if (before !== undefined) return ownTop(before);
      const event = knownEvent(text);
      if (event !== undefined) return event;
      const value = parse(text);
      known.set(text.trimEnd(), value);
      return value;
    },
  };
}

/** The client writes kind and version at the top. */
const ownTop = (value: JsonValue): JsonValue => (isObject(value) ? { ...value } : value);
