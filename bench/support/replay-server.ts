/**
 * A TLS server that answers like an API server, from memory and as fast as it can, in a process of its own: what is
 * measured is the client. Prints its address and the path of its authority's certificate, then serves until it is ended.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { contentAt } from "./contents.ts";

const authority = createAuthority("bench-authority");
const { certificate, key } = authority.issue({ commonName: "bench", ipv4: ["127.0.0.1"] });
const one = JSON.stringify(contentAt(0));
const group = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents";

function answerList(response: ServerResponse, query: URLSearchParams): void {
  const total = Number(query.get("fieldSelector")?.split("=").at(-1) ?? 10_000);
  const from = Number(query.get("continue") ?? 0);
  const to = Math.min(total, from + Number(query.get("limit") ?? total));
  const items = Array.from({ length: to - from }, (_, index) => contentAt(from + index));
  const metadata = { resourceVersion: "999999", ...(to < total ? { continue: String(to) } : {}) };
  response.end(
    JSON.stringify({ apiVersion: "snapshot.storage.k8s.io/v1", kind: "VolumeSnapshotContentList", metadata, items }),
  );
}

/** As many events as the field selector says. Like kube-apiserver, it sends each one by itself. */
/** A change to every object of the list: newer, and otherwise the same. */
const frames = new Map<number, readonly Buffer[]>();
async function answerWatch(response: ServerResponse, query: URLSearchParams): Promise<void> {
  const count = Number(query.get("fieldSelector")?.split("=").at(-1) ?? 0);
  const made = frames.get(count) ?? Array.from({ length: count }, (_, index) => frameAt(index));
  frames.set(count, made);
  for (const frame of made) if (!response.write(frame)) await new Promise((resolve) => response.once("drain", resolve));
  response.end();
}
const changedSince = 1_000_000;
const frameAt = (index: number): Buffer =>
  Buffer.from(`${JSON.stringify({ type: "MODIFIED", object: contentAt(index, changedSince) })}\n`);

const server = createServer({ cert: certificate, key }, (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://bench");
  response.setHeader("content-type", "application/json");
  request.resume();
  request.on("end", () => {
    if (searchParams.has("watch")) void answerWatch(response, searchParams);
    else if (pathname === group) answerList(response, searchParams);
    else response.end(one);
  });
});

const folder = mkdtempSync(join(tmpdir(), "rb-"));
const caFile = join(folder, "ca.pem");
writeFileSync(caFile, authority.certificate);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.on("SIGTERM", () => process.exit(0));
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, caFile }));
});
