/** Findings in the forms that people, scripts, code scanning and GitHub's annotations read. */
import { printableLine } from "../../base/printable.ts";
import { count } from "../findings/count.ts";
import { sarifHead, sarifResult, sarifTool } from "../findings/sarif.ts";
import type { Finding } from "./findings.ts";

export const lintFormats = ["text", "json", "sarif", "github"] as const;
export type LintFormat = (typeof lintFormats)[number];

interface Result {
  readonly findings: readonly Finding[];
  /** Objects that were looked at. */
  readonly objects: number;
  readonly files: number;
  readonly version: string;
}

export const printed: Readonly<Record<LintFormat, (result: Result) => string>> = {
  text: ({ findings, objects, files }) => {
    const errors = findings.filter(({ severity }) => severity === "error").length;
    const lines = findings.map(({ file, line, severity, object, message }) =>
      printableLine(`${file}:${line}: ${severity}: ${object === "" ? "" : `${object}: `}${message}`),
    );
    return `${lines.join("")}${count(objects, "object")} in ${count(files, "file")}: ${count(errors, "error")}, ${count(findings.length - errors, "warning")}\n`;
  },
  json: ({ findings, objects, files }) => `${JSON.stringify({ objects, files, findings }, undefined, 2)}\n`,
  github: ({ findings }) =>
    findings
      .map(
        ({ file, line, severity, code, object, message }) =>
          `::${severity} file=${property(file)},line=${line},title=${code}::${data(object === "" ? message : `${object}: ${message}`)}\n`,
      )
      .join(""),
  sarif: ({ findings, version }) => `${JSON.stringify(sarif(findings, version), undefined, 2)}\n`,
};

/** GitHub's workflow commands end at a line break, and their properties at a comma or colon. */
const data = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

const sarif = (findings: readonly Finding[], version: string) => ({
  ...sarifHead,
  runs: [
    {
      tool: sarifTool(
        "lint",
        version,
        findings.map(({ code }) => code),
      ),
      results: findings.map((finding) => ({
        ...sarifResult(finding),
        locations: [
          { physicalLocation: { artifactLocation: { uri: finding.file }, region: { startLine: finding.line } } },
        ],
      })),
    },
  ],
});
