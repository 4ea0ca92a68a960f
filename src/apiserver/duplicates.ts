/**
 * Which fields a JSON text says twice: JSON.parse keeps the last and says nothing. Only asked when a client wants to know
 * (kubectl does), so one pass over the text is enough, and the parser stays the platform's.
 */
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

/** Strings, and the signs that open, close and separate; numbers and words in between do not matter. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** 'duplicate field "spec.replicas"', in order of appearance. Expects a text that JSON.parse accepts. */
export function duplicateFields(text: string): readonly string[] {
  const found: string[] = [];
  const frames: Frame[] = [];
  let expectKey = false;
  for (const [token] of text.matchAll(tokens)) {
    const frame = frames.at(-1);
    if (token === "{" || token === "[") frames.push(opened(frame, token));
    else if (token === "}" || token === "]") frames.pop();
    else if (token === "," && frame !== undefined) frame.index += 1;
    else if (expectKey && frame !== undefined) note(frame, token, found);
    expectKey = token === "{" || (token === "," && frame?.keys !== undefined);
  }
  return found.length === 0 ? found : [...new Set(found)];
}

const opened = (outer: Frame | undefined, token: string): Frame => ({
  path: outer === undefined ? "" : childPath(outer),
  keys: token === "{" ? new Set() : undefined,
  key: "",
  index: 0,
});

function note(frame: Frame, quoted: string, found: string[]): void {
  const key: string = quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1);
  frame.key = key;
  if (frame.keys?.has(key)) found.push(`duplicate field ${JSON.stringify(childPath(frame))}`);
  frame.keys?.add(key);
}
