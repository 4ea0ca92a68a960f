/** The parts of a SARIF report that do not depend on where a finding is. */
import { type ErrorCode, errorRows, remedyOf } from "../../errors/codes.ts";

export interface SarifFinding {
  readonly severity: "error" | "warning";
  readonly code: ErrorCode;
  /** Empty for what could not be read. */
  readonly object: string;
  readonly message: string;
}

export const sarifHead = { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0" } as const;

export const sarifTool = (command: string, version: string, codes: Iterable<ErrorCode>) => ({
  driver: {
    name: `snapkeep ${command}`,
    version,
    rules: [...new Set(codes)].map((id) => ({
      id,
      shortDescription: { text: errorRows[id].title },
      fullDescription: { text: errorRows[id].why },
      help: { text: remedyOf(id) },
    })),
  },
});

export const sarifResult = ({ severity, code, object, message }: SarifFinding) => ({
  ruleId: code,
  level: severity,
  message: { text: object === "" ? message : `${object}: ${message}` },
});
