/** A text and everything it decodes to: percent encoding, form encoding, escapes of JSON and Go, entities of HTML. */

/** Bytes, and for each of them where in the original text it comes from. */
export interface View {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** A view, and the same in lower case and in one alphabet of base64: what is looked for in them has no case, or no alphabet. */
export interface DecodedView {
  readonly exact: View;
  readonly lower: View;
  readonly base64: View;
}

/** A secret may be escaped in a text that is then escaped as a whole. */
const decodingsMax = 2;

export function decodedViewsOf(text: string): readonly DecodedView[] {
  const views = [viewOf(text)];
  let latest: readonly View[] = views;
  for (let round = 0; round < decodingsMax; round++) {
    latest = latest.flatMap((view) => decodings.flatMap((decode) => decoded(view, decode) ?? []));
    views.push(...latest);
  }
  return views.map((exact) => ({ exact, lower: mapped(exact, toLower), base64: mapped(exact, toStandardBase64) }));
}

function viewOf(text: string): View {
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const char of text) {
    for (let left = Buffer.byteLength(char); left > 0; left--) {
      starts.push(at);
      ends.push(at + char.length);
    }
    at += char.length;
  }
  return { bytes: Buffer.from(text), starts, ends };
}

const mapped = (view: View, change: (byte: number) => number): View => ({
  ...view,
  bytes: Buffer.from(view.bytes.map(change)),
});
const toLower = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);
const [minus, underscore, plus, slash] = Buffer.from("-_+/") as unknown as readonly [number, number, number, number];
const toStandardBase64 = (byte: number): number => (byte === minus ? plus : byte === underscore ? slash : byte);

interface Decoding {
  /** One encoded character. Matched on the bytes as Latin-1, so that positions are those of bytes. */
  readonly encoded: RegExp;
  meant(match: RegExpExecArray): Buffer | undefined;
}

const byteOf = (hex: string): Buffer => Buffer.from(hex, "hex");
const charOf = (code: number): Buffer | undefined =>
  code <= 0x10_ffff ? Buffer.from(String.fromCodePoint(code)) : undefined;

const percent: Decoding = { encoded: /%([0-9a-f]{2})/gi, meant: ([, hex = ""]) => byteOf(hex) };
const form: Decoding = {
  encoded: /\+|%([0-9a-f]{2})/gi,
  meant: ([all, hex = ""]) => (all === "+" ? Buffer.from(" ") : byteOf(hex)),
};

const letters: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const escapes: Decoding = {
  encoded:
    /\\(?:x([\da-fA-F]{2})|u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-3][0-7]{2})|([\x20-\x7e]))/g,
  meant: ([, byte, high, low, four, eight, octal, letter = ""]) => {
    if (byte !== undefined) return byteOf(byte);
    if (high !== undefined && low !== undefined)
      return Buffer.from(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)));
    const wide = four ?? eight;
    if (wide !== undefined) return charOf(Number.parseInt(wide, 16));
    return octal === undefined ? Buffer.from(letters[letter] ?? letter) : Buffer.from([Number.parseInt(octal, 8)]);
  },
};

const entityNames: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const entities: Decoding = {
  encoded: /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));/gi,
  meant: ([, hex, decimal, name = ""]) => {
    const number = hex === undefined ? decimal : `0x${hex}`;
    return number === undefined ? Buffer.from(entityNames[name.toLowerCase()] ?? "") : charOf(Number(number));
  },
};

const decodings: readonly Decoding[] = [percent, form, escapes, entities];

/** Undefined where nothing is encoded like that. */
function decoded({ bytes, starts, ends }: View, { encoded, meant }: Decoding): View | undefined {
  const parts: Buffer[] = [];
  const from: number[] = [];
  const to: number[] = [];
  let at = 0;
  const copyUntil = (end: number): void => {
    parts.push(bytes.subarray(at, end));
    for (; at < end; at++) {
      from.push(starts[at] ?? 0);
      to.push(ends[at] ?? 0);
    }
  };
  for (const match of bytes.toString("latin1").matchAll(encoded)) {
    const means = meant(match);
    if (means === undefined) continue;
    const last = match.index + match[0].length;
    copyUntil(match.index);
    parts.push(means);
    for (const _ of means) {
      from.push(starts[match.index] ?? 0);
      to.push(ends[last - 1] ?? 0);
    }
    at = last;
  }
  if (at === 0) return undefined;
  copyUntil(bytes.length);
  return { bytes: Buffer.concat(parts), starts: from, ends: to };
}
