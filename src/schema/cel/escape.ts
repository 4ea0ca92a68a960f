/** Field names that are no CEL names are written another way in rules: "a-b" is a__dash__b, "namespace" __namespace__. */

const reserved: ReadonlySet<string> = new Set([
  ...["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"],
  ...["let", "loop", "package", "namespace", "return", "var", "void", "while"],
]);

const words: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};
const signs: Readonly<Record<string, string>> = { underscores: "__", dot: ".", dash: "-", slash: "/" };

/** undefined: the name cannot be written in rules at all. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (piece) => words[piece] ?? piece);
}

export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes("__")) return escaped;
  const whole = /^__([a-z]+)__$/.exec(escaped)?.[1];
  if (whole !== undefined && reserved.has(whole)) return whole;
  let isGood = true;
  const name = escaped.replace(/__([^_]+)__/g, (_, word: string) => {
    const sign = signs[word];
    if (sign === undefined) isGood = false;
    return sign ?? "";
  });
  return isGood ? name : undefined;
}
