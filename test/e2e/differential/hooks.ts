/** A webhook over real HTTPS that both servers ask. The last part of its path says how it answers. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type JsonObject, print } from "../../../src/base/json.ts";
import { createAuthority } from "../harness/certificates.ts";

export interface Hooks {
  /** "https://127.0.0.1:1234" */
  readonly url: string;
  /** The authority that signed its certificate, as a configuration wants it. */
  readonly caBundle: string;
  close(): void;
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");
const patching = (...operations: readonly object[]): JsonObject => ({
  patchType: "JSONPatch",
  patch: encoded(operations),
});
const denying = (status?: JsonObject): JsonObject => ({ allowed: false, ...(status === undefined ? {} : { status }) });

/** What was asked, without what differs by nature, so that the question itself is compared. */
function described(request: JsonObject): string {
  const { uid: _, ...rest } = request;
  return print(sorted(rest));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "managedFields");
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]));
}

const answers: Readonly<Record<string, (request: JsonObject) => JsonObject>> = {
  allow: () => ({ allowed: true }),
  deny: () => denying(),
  "deny-reason": () => denying({ reason: "Tired" }),
  "deny-message": () => denying({ message: "not today", code: 403, reason: "Forbidden" }),
  "deny-details": () =>
    denying({
      message: "bad field",
      code: 422,
      reason: "Invalid",
      details: { causes: [{ field: "data", message: "x" }] },
    }),
  "deny-success": () => denying({ message: "odd", code: 200, status: "Success" }),
  warn: () => ({ allowed: true, warnings: ["be careful", "very careful"] }),
  "deny-warn": () => ({ ...denying({ message: "no" }), warnings: ["be careful"] }),
  patch: () => ({ allowed: true, ...patching({ op: "add", path: "/data", value: { patched: "yes" } }) }),
  "patch-more": () => ({ allowed: true, ...patching({ op: "add", path: "/data/more", value: "yes" }) }),
  "patch-unknown": () => ({ allowed: true, ...patching({ op: "add", path: "/unknown", value: 1 }) }),
  "patch-invalid": () => ({ allowed: true, ...patching({ op: "add", path: "/data", value: { "a b": "c" } }) }),
  "patch-nowhere": () => ({ allowed: true, ...patching({ op: "add", path: "/no/where", value: 1 }) }),
  "patch-untyped": () => ({ allowed: true, patch: encoded([]) }),
  "patch-empty": () => ({ allowed: true, patchType: "JSONPatch" }),
  "wrong-uid": () => ({ allowed: true, uid: "other" }),
  tell: (request) => denying({ message: described(request) }),
};

export async function startHooks(): Promise<Hooks> {
  const authority = createAuthority("snapkeep-hooks");
  const { certificate, key } = authority.issue({ commonName: "hooks", ipv4: ["127.0.0.1"] });
  const server = createServer({ cert: certificate, key }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => void chunks.push(chunk));
    incoming.on("end", () => {
      const word = new URL(incoming.url ?? "/", "https://hooks").pathname.slice(1);
      if (word === "hang") return;
      if (word === "broken") return void outgoing.destroy();
      if (word === "garbage") return void outgoing.end("<html>");
      if (word === "nothing") return void outgoing.end("{}");
      if (word === "boom") return void outgoing.writeHead(500).end("boom");
      const review = JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject;
      const request = review.request as JsonObject;
      const response = { uid: request.uid, allowed: true, ...answers[word]?.(request) };
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(print({ apiVersion: review.apiVersion, kind: "AdmissionReview", response }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
