/**
 * Text that others have written, names above all, as it may be shown: on a terminal, where an escape sequence clears the screen, and in
 * the log of a CI job, where a line "::error …" or a text "##[error]" is a command. What is replaced is written as JSON writes it, so a
 * JSON document with such characters stays what it is.
 */

/** Control and format characters (of direction, among others), separators of lines, lone surrogates; and the "#" of "##[" and "##vso[". */
const unsafe = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?<=#)#(?=\[|vso\[)/gu;

/** The line breaks are ours: a report, a YAML document. */
export const printableLines = (text: string): string => text.replace(unsafe, escaped);

/** One line, whatever is in it. */
export const printable = (text: string): string =>
  printableLines(text)
    .replaceAll("\n", "\\n")
    .replace(/^(\s*):(?=:)/, "$1\\u003a");

/** To be written as it is. */
export const printableLine = (text: string): string => `${printable(text)}\n`;

const escaped = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
