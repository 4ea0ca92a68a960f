/** `snapkeep errors`: what docs/reference/errors.md says of a code, for whoever has only the program. */
import { printableLine } from "../../base/printable.ts";
import { type ErrorCode, errorCodes, errorRows, remedyOf } from "../../errors/codes.ts";
import { defineCommand } from "../../runtime/command.ts";
import { oneOf } from "../../runtime/flag-kinds.ts";
import { helpWidth, wrapped } from "../../runtime/help.ts";

const isCode = (text: string): text is ErrorCode => Object.hasOwn(errorRows, text);

/** Codes are given as they are printed, without the prefix, or within the message that has them. */
function codesIn(text: string): readonly string[] {
  const found = text.match(/SNAP-\d+/gi) ?? [];
  return found.length > 0 ? found.map((code) => code.toUpperCase()) : [/^\d+$/.test(text) ? `SNAP-${text}` : text];
}

const codesOf = (positionals: readonly string[]): readonly string[] => [...new Set(positionals.flatMap(codesIn))];

const entry = (code: ErrorCode) => {
  const { title, why } = errorRows[code];
  return { code, title, why, remedy: remedyOf(code) };
};
const everyCode = errorCodes.toSorted();

export const command = defineCommand({
  takes: "[CODE…]",
  flags: {
    output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format." }),
  },
  examples: [
    { does: "Explain the code at the end of a message", line: "snapkeep errors SNAP-212" },
    { does: "List all codes", line: "snapkeep errors" },
    { does: "Give all codes to a script", line: "snapkeep errors -o json" },
  ],
  check: (_options, positionals) => {
    const unknown = codesOf(positionals).find((code) => !isCode(code));
    return unknown === undefined
      ? undefined
      : `there is no code ${JSON.stringify(unknown)}; "snapkeep errors" lists those of this release`;
  },
  run: async ({ options, positionals, out, columns }) => {
    const asked = codesOf(positionals).filter(isCode);
    const codes = asked.length === 0 ? everyCode : asked;
    const width = helpWidth(columns);
    if (options.output === "json") out.write(`${JSON.stringify(codes.map(entry), undefined, 2)}\n`);
    else if (asked.length === 0)
      for (const code of codes) out.write(printableLine(`${code}  ${errorRows[code].title}`));
    else out.write(asked.map((code) => pageOf(code, width)).join("\n"));
    return 0;
  },
});

function pageOf(code: ErrorCode, width: number): string {
  const { title, why } = errorRows[code];
  return [`${code}: ${title}`, why, `What to do: ${remedyOf(code)}`]
    .map((text) => `${wrapped(text, width).join("\n")}\n`)
    .join("\n");
}
