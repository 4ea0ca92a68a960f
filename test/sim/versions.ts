/** Versions of objects as they stand in texts. Every answer and event comes by here: a search is cheaper than a pattern. */
const versionWord = '"resourceVersion":"';
const zero = "0".charCodeAt(0);

/** Where the next version begins; -1: there is none. */
export function versionFrom(text: string, from = 0): number {
  const at = text.indexOf(versionWord, from);
  return at === -1 ? -1 : at + versionWord.length;
}

/** The digits that stand there. */
export function numberAt(text: string, at: number): number {
  let number = 0;
  for (let digit = text.charCodeAt(at) - zero, next = at + 1; digit >= 0 && digit <= 9; next++) {
    number = 10 * number + digit;
    digit = text.charCodeAt(next) - zero;
  }
  return number;
}
