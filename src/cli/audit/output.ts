/** Findings as they come: each form is written piece by piece, so that a report of any length is never held. */
import { stringify } from "yaml";
import { printableLine } from "../../base/printable.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { withoutCode } from "../../errors/codes.ts";
import type { Writer } from "../../runtime/command.ts";
import { count } from "../findings/count.ts";
import { sarifHead, sarifResult, sarifTool } from "../findings/sarif.ts";
import type { AuditFinding } from "./audit.ts";

export const auditFormats = ["table", "json", "yaml", "sarif"] as const;
type AuditFormat = (typeof auditFormats)[number];

export interface Totals {
  /** Objects that were looked at, by kind. */
  readonly objects: Readonly<Record<string, number>>;
  readonly errors: number;
  readonly warnings: number;
}

interface Report {
  add(finding: AuditFinding): void;
  end(totals: Totals): void;
}

const columns = { severity: 10, code: 10, object: 46 } as const;

const table = (out: Writer): Report => {
  let isEmpty = true;
  const row = (severity: string, code: string, object: string, change: string): void => {
    const cells = [
      severity.padEnd(columns.severity),
      code.padEnd(columns.code),
      `${object.padEnd(columns.object - 1)} `,
      change,
    ];
    out.write(printableLine(cells.join("")));
  };
  return {
    add: ({ severity, code, object, message }) => {
      if (isEmpty) row("SEVERITY", "CODE", "OBJECT", "WHAT TO CHANGE");
      isEmpty = false;
      row(severity, code, object, withoutCode(message));
    },
    end: ({ objects, errors, warnings }) => {
      const seen = Object.entries(objects).map(([kind, number]) => count(number, kind).replace(/sss$/, "sses"));
      out.write(`${seen.join(", ")}: ${count(errors, "error")}, ${count(warnings, "warning")}\n`);
    },
  };
};

const separated = (out: Writer): ((text: string) => void) => {
  let isFirst = true;
  return (text) => {
    out.write(`${isFirst ? "" : ","}\n    ${text}`);
    isFirst = false;
  };
};

const json = (out: Writer): Report => {
  const item = separated(out);
  out.write('{\n  "findings": [');
  return {
    add: (finding) => item(JSON.stringify(finding)),
    end: (totals) => void out.write(`\n  ],\n${JSON.stringify(totals, undefined, 2).slice(2)}\n`),
  };
};

/** A text of several lines would begin one of its own in the log of a CI job. */
const oneLineTexts = { lineWidth: 0, blockQuote: false, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };

const yaml = (out: Writer): Report => {
  let isEmpty = true;
  return {
    add: (finding) => {
      if (isEmpty) out.write("findings:\n");
      isEmpty = false;
      out.write(stringify([finding], oneLineTexts).replaceAll(/^/gm, "  ").trimEnd());
      out.write("\n");
    },
    end: (totals) => {
      if (isEmpty) out.write("findings: []\n");
      out.write(stringify(totals));
    },
  };
};

/** The tool with its rules stands last: which rules there are is known at the end. */
const sarif =
  (version: string) =>
  (out: Writer): Report => {
    const codes = new Set<ErrorCode>();
    const item = separated(out);
    out.write(`${JSON.stringify(sarifHead).slice(0, -1)},"runs":[{"results":[`);
    return {
      add: (finding) => {
        codes.add(finding.code);
        const location = { logicalLocations: [{ fullyQualifiedName: finding.object, kind: "resource" }] };
        item(JSON.stringify({ ...sarifResult(finding), locations: [location] }));
      },
      end: () => void out.write(`\n],"tool":${JSON.stringify(sarifTool("audit", version, codes))}}]}\n`),
    };
  };

export const reportIn = (format: AuditFormat, out: Writer, version: string): Report =>
  ({ table, json, yaml, sarif: sarif(version) })[format](out);
