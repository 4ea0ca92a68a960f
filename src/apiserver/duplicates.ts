/**
 * Which fields a JSON text says twice: JSON.parse keeps the last and says nothing. Only asked when a client wants to know
 * (kubectl does), so one pass over the text is enough, and the parser stays the platform's.
 */
import { type JsonValue, print } from "../base/json.ts";

interface Frame {
  readonly path: string;
  readonly keys: Set<string> | undefined;
  key: string;
  index: number;
}

const childPath = ({ path, keys, key, index }: Frame): string => {
  if (keys === undefined) return `${path}[${index}]`;
  return path === "" ? key : `${path}.${key}`;
};

const [quote, comma, backslash] = [34, 44, 92];
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];

/** Where the closing quote of the string stands that opens at `at`. */
export function endOfString(text: string, at: number): number {
  let end = at + 1;
  for (let code = text.charCodeAt(end); code !== quote && end < text.length; code = text.charCodeAt(end))
    end += code === backslash ? 2 : 1;
  return end;
}

/**
 * 'duplicate field "spec.replicas"', in order of appearance. Expects a text that JSON.parse accepts, and what it read. What
 * is printed says nothing twice, and the platform prints faster than we search: most clients send what they have printed.
 */
export const duplicateFields = (text: string, value: JsonValue): readonly string[] =>
  text === "" || print(value) === text ? [] : duplicatesIn(text);

function duplicatesIn(text: string): readonly string[] {
  const found: string[] = [];
  const frames: Frame[] = [];
  let expectKey = false;
  // Strings, and the signs that open, close and separate; numbers and words in between do not matter.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const frame = frames.at(-1);
    if (code === quote) {
      const end = endOfString(text, at);
      if (expectKey && frame !== undefined) note(frame, text.slice(at, end + 1), found);
      expectKey = false;
      at = end;
    } else if (code === openBrace || code === openBracket) {
      expectKey = code === openBrace;
      frames.push(opened(frame, expectKey));
    } else if (code === closeBrace || code === closeBracket) frames.pop();
    else if (code === comma && frame !== undefined) {
      frame.index += 1;
      expectKey = frame.keys !== undefined;
    }
  }
  return found.length === 0 ? found : [...new Set(found)];
}

const opened = (outer: Frame | undefined, hasKeys: boolean): Frame => ({
  path: outer === undefined ? "" : childPath(outer),
  keys: hasKeys ? new Set() : undefined,
  key: "",
  index: 0,
});

function note(frame: Frame, quoted: string, found: string[]): void {
  const key: string = quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1);
  frame.key = key;
  if (frame.keys?.has(key)) found.push(`duplicate field ${JSON.stringify(childPath(frame))}`);
  frame.keys?.add(key);
}
