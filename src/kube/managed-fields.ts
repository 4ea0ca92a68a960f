/**
 * Cuts metadata.managedFields out of an object's bytes before they are parsed. The record of who set which field is half of
 * most objects, nobody here reads it, and parsing it is half of what a watch costs. Bytes, because looking at a string
 * character by character costs as much as parsing it.
 */
const quote = 34;
const comma = 44;
const backslash = 92;
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];

const metadata = Buffer.from('"metadata":{');
const field = Buffer.from('"managedFields":[');

/**
 * The text from `from` to `end` without the field; `brace` is where the object begins. Kubernetes prints without blanks: a
 * text with blanks comes back whole, and the field is dropped after parsing.
 */
export function textWithoutManagedFields(bytes: Buffer, from: number, end: number, brace: number): string {
  const start = managedFieldsAt(bytes, brace, end);
  if (start === undefined) return bytes.toString("utf8", from, end);
  const after = afterContainer(bytes, start + field.length - 1, end);
  // One of the commas beside it goes too.
  const [cutFrom, cutTo] =
    bytes[after] === comma ? [start, after + 1] : [bytes[start - 1] === comma ? start - 1 : start, after];
  return bytes.toString("utf8", from, cutFrom) + bytes.toString("utf8", cutTo, end);
}

/** Where the field's name begins, at its proper place and nowhere else: others may have fields of that name. */
function managedFieldsAt(bytes: Uint8Array, brace: number, end: number): number | undefined {
  let depth = 0;
  let isInMetadata = false;
  for (let at = brace; at < end; ) {
    const code = bytes[at];
    if (code === quote) {
      if (depth === 2 && isInMetadata && standsAt(bytes, at, field)) return at;
      if (depth === 1 && standsAt(bytes, at, metadata)) isInMetadata = true;
      at = afterString(bytes, at);
      continue;
    }
    depth += nesting(code);
    // Behind the metadata, or no object at all.
    if (depth === 0 || (depth === 1 && isInMetadata && code === closeBrace)) return undefined;
    at += 1;
  }
  return undefined;
}

function standsAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word[index]) return false;
  return true;
}

/** Behind the closing quote of the string that opens at `at`. */
function afterString(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  for (let code = bytes[end]; code !== quote && code !== undefined; code = bytes[end])
    end += code === backslash ? 2 : 1;
  return end + 1;
}

/** Behind the last bracket of the list that opens at `at`. */
function afterContainer(bytes: Uint8Array, at: number, end: number): number {
  let depth = 0;
  for (let here = at; here < end; ) {
    const code = bytes[here];
    here = code === quote ? afterString(bytes, here) : here + 1;
    depth += nesting(code);
    if (depth === 0) return here;
  }
  return end;
}

function nesting(code: number | undefined): number {
  if (code === openBrace || code === openBracket) return 1;
  return code === closeBrace || code === closeBracket ? -1 : 0;
}
