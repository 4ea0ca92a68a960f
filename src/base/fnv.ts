/** FNV-1a of 32 bits: short, the same everywhere, and no protection against anybody. */
export function fnv1a(text: string): number {
  let hash = 2_166_136_261;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 16_777_619) >>> 0;
  return hash;
}
