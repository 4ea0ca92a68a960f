/**
 * Removes the secrets of a call from texts that the other side has written: error messages, fields of replies. Drivers
 * and the libraries under them quote, escape and encode what they print, so a secret is looked for in every text that the
 * original decodes to, and as hex, as a list of byte values and inside base64 of something longer ("user:password").
 */
import { type DecodedView, decodedViewsOf, type View } from "./scrub-views.ts";

export const scrubMark = "[redacted]";

export type Scrub = (text: string) => string;

/** Below this a secret may be part of any word, and is hidden only where it stands alone. */
const anywhereBytesMin = 4;
/** Shorter ones, encoded, are too common to be distinguished from other text. */
const encodedBytesMin = 3;
const base64CharsMin = 4;
/** Pairs of more secrets than this are not built: longer secrets are found inside base64 without them. */
const pairedMax = 12;
/** Byte by byte are printed keys and passwords, not the lines of a bundle of certificates: there would be too much to look for. */
const listedBytesMax = 1_024;
const listedMax = 100;

interface Needle {
  readonly in: keyof DecodedView;
  readonly bytes: Buffer;
  /** Hides more than was found: what stands next to it was encoded with it. */
  readonly grow?: ((view: View, from: number, to: number) => readonly [number, number]) | undefined;
  readonly mustStandAlone?: boolean;
}

export function createScrub(secrets: ReadonlySet<string>): Scrub {
  const shortestFirst = [...secrets].filter((secret) => secret !== "").sort((a, b) => a.length - b.length);
  const needles = shortestFirst.flatMap(needlesOf);
  needles.push(...pairsOf([...secrets]).flatMap((pair) => base64Needles(Buffer.from(pair), [0])));
  return needles.length === 0 ? (text) => text : (text) => without(text, needles);
}

function without(text: string, needles: readonly Needle[]): string {
  const hits = decodedViewsOf(text).flatMap((view) => needles.flatMap((needle) => hitsOf(view, needle)));
  if (hits.length === 0) return text;
  let cleaned = "";
  let at = 0;
  for (const [from, to] of merged(hits)) {
    cleaned += text.slice(at, from) + scrubMark;
    at = to;
  }
  return cleaned + text.slice(at);
}

type Range = readonly [from: number, to: number];

/** Places in the original text. */
function hitsOf(decoded: DecodedView, { in: spelling, bytes, grow, mustStandAlone }: Needle): readonly Range[] {
  const view = decoded[spelling];
  const hits: Range[] = [];
  for (let at = view.bytes.indexOf(bytes); at !== -1; at = view.bytes.indexOf(bytes, at + 1)) {
    const end = at + bytes.length;
    if (mustStandAlone && (isWordByte(view.bytes[at - 1]) || isWordByte(view.bytes[end]))) continue;
    const [from, to] = grow?.(view, at, end) ?? [at, end];
    hits.push([view.starts[from] ?? 0, view.ends[to - 1] ?? 0]);
  }
  return hits;
}

/** What touches becomes one, so that the count of secrets does not show either. */
function merged(hits: readonly Range[]): readonly Range[] {
  const whole: [number, number][] = [];
  for (const [from, to] of hits.toSorted(([a], [b]) => a - b)) {
    const last = whole.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else whole.push([from, to]);
  }
  return whole;
}

function needlesOf(secret: string, index: number): readonly Needle[] {
  const bytes = Buffer.from(secret);
  const plain: Needle = { in: "exact", bytes, mustStandAlone: bytes.length < anywhereBytesMin };
  if (bytes.length < encodedBytesMin) return [plain];
  return [
    plain,
    ...otherCharsets(secret, bytes),
    { in: "lower", bytes: Buffer.from(bytes.toString("hex")) },
    ...(index < listedMax && bytes.length <= listedBytesMax ? byteLists(bytes) : []),
    ...base64Needles(bytes, [0, 1, 2]),
  ];
}

/** As hex dumps have them, and as Go and JSON print a list of bytes. */
function byteLists(bytes: Buffer): readonly Needle[] {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
  return [
    ...[" ", ":"].map((separator): Needle => ({ in: "lower", bytes: Buffer.from(hex.join(separator)) })),
    ...[" ", ",", ", "].map((separator): Needle => ({ in: "exact", bytes: Buffer.from(bytes.join(separator)) })),
  ];
}

/** A driver may write something other than UTF-8: these are the bytes as it sends them, and what decoding left of them. */
function otherCharsets(secret: string, bytes: Buffer): readonly Needle[] {
  const isAscii = bytes.length === secret.length;
  if (isAscii || secret.length < anywhereBytesMin) return [];
  const replaced = Buffer.from(secret.replace(/[^\p{ASCII}]/gu, "\ufffd"));
  return [Buffer.from(secret, "latin1"), replaced].map((other) => ({ in: "exact", bytes: other }));
}

/**
 * Base64 takes three bytes at a time, so a secret in the middle of something has one of three spellings. Characters at its
 * ends also carry bits of its neighbours; they are not looked for, but hidden.
 */
function base64Needles(bytes: Buffer, offsets: readonly number[]): readonly Needle[] {
  return offsets.flatMap((offset): readonly Needle[] => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor(((offset + bytes.length) * 8) / 6);
    if (to - from < base64CharsMin) return [];
    return [{ in: "base64", bytes: Buffer.from(encoded.slice(from, to)), grow: toWholeBase64 }];
  });
}

const asByte = (char: string): number => char.charCodeAt(0);
const isBetween = (byte: number, first: string, last: string): boolean => byte >= asByte(first) && byte <= asByte(last);
const isAlphanumeric = (byte: number): boolean =>
  isBetween(byte, "0", "9") || isBetween(byte, "A", "Z") || isBetween(byte, "a", "z");
/** Beyond ASCII everything counts as a letter. */
const isWordByte = (byte: number | undefined): boolean => byte !== undefined && (byte >= 0x80 || isAlphanumeric(byte));

/** A slash ends it unless it stands right beside the secret: most slashes are those of a path. */
function toWholeBase64({ bytes }: View, from: number, to: number): readonly [number, number] {
  const isBody = (at: number): boolean => isAlphanumeric(bytes[at] ?? 0) || bytes[at] === asByte("+");
  const isSlash = (at: number): boolean => bytes[at] === asByte("/");
  let [first, end] = [isSlash(from - 1) ? from - 1 : from, isSlash(to) ? to + 1 : to];
  while (isBody(first - 1)) first -= 1;
  while (isBody(end)) end += 1;
  while (bytes[end] === asByte("=")) end += 1;
  return [first, end];
}

/** As in an Authorization header. Only of short ones: longer ones are found inside of any base64. */
function pairsOf(secrets: readonly string[]): readonly string[] {
  const short = secrets.filter((secret) => secret !== "" && secret.length <= encodedBytesMin).slice(0, pairedMax);
  return short.flatMap((one) => short.filter((other) => other !== one).map((other) => `${one}:${other}`));
}
