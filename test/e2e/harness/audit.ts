/** The API server's own record of every request: the proof of how much a component really asks for. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export interface AuditEntry {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** One entry per request, without bodies. */
export const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
} as const;

export function readAudit(path: string, from: number): readonly AuditEntry[] {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.max(fstatSync(file).size - from, 0));
    readSync(file, bytes, 0, bytes.length, from);
    // The last line may be on its way.
    const text = bytes.toString("utf8");
    return text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line !== "")
      .flatMap(entryOf);
  } finally {
    closeSync(file);
  }
}

/** A server that was killed may have left half a line. */
function entryOf(line: string): readonly AuditEntry[] {
  try {
    return [JSON.parse(line) as AuditEntry];
  } catch {
    return [];
  }
}
