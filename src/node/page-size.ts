/** The size of a page of memory: 4 KiB on most machines, 16 or 64 KiB on some with ARM or POWER processors. */
import { readFileSync } from "node:fs";
import { endianness } from "node:os";

const usualBytes = 4_096;
/** The kernel tells every process, as pairs of numbers, the size of a page under this one. */
const pageSizeKey = 6n;

export function pageBytes(path = "/proc/self/auxv"): number {
  try {
    return pageBytesIn(readFileSync(path)) ?? usualBytes;
  } catch {
    return usualBytes;
  }
}

function pageBytesIn(vector: Buffer): number | undefined {
  const at = (offset: number): bigint =>
    endianness() === "LE" ? vector.readBigUInt64LE(offset) : vector.readBigUInt64BE(offset);
  for (let offset = 0; offset + 16 <= vector.length; offset += 16)
    if (at(offset) === pageSizeKey) return Number(at(offset + 8));
  return undefined;
}
