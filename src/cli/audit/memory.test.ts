/** 100,000 objects do not fit into the memory that audit gets here: it must let go of each page. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const main = resolve(import.meta.dirname, "../../main.ts");
const group = "snapshot.storage.k8s.io";
const [pages, perPage] = [200, 500];
const mebibytesMax = 64;

/** Each object invalid, with so much on it that all of them together are a multiple of the memory. */
const items = Array.from({ length: perPage }, (_, index) =>
  JSON.stringify({
    metadata: { name: `s-${index}`, namespace: "team", annotations: { large: "x".repeat(1_500) } },
    spec: { source: {} },
  }),
).join(",");

const answers: RequestListener = ({ url = "" }, response) => {
  const { pathname, searchParams } = new URL(url, "http://any");
  const page = Number(searchParams.get("continue") ?? 0) + 1;
  const text =
    pathname === `/apis/${group}`
      ? `{"versions":[{"version":"v1"}]}`
      : pathname === `/apis/${group}/v1`
        ? `{"resources":[{"name":"volumesnapshots"}]}`
        : `{"metadata":{"resourceVersion":"1","continue":"${page === pages ? "" : page}"},"items":[${items}]}`;
  response.setHeader("content-type", "application/json");
  response.end(text);
};

test("audit of 100,000 objects with as many findings needs the memory of a page", async (t) => {
  const server = createServer(answers).listen(0, "127.0.0.1");
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  await new Promise((done) => server.once("listening", done));
  const file = join(folder, "config");
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(
    file,
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [{ name: "k", cluster: { server: at } }],
      users: [{ name: "u", user: { token: "t0ken" } }],
    }),
  );
  const argv = [
    `--max-old-space-size=${mebibytesMax}`,
    main,
    "audit",
    `--kubeconfig=${file}`,
    "--namespace=team",
    "--claims=false",
  ];
  const ended = await new Promise<{ code: unknown; lines: readonly string[]; error: string }>((done) => {
    execFile(process.execPath, argv, { maxBuffer: 2 ** 28 }, (reason, out, error) =>
      done({ code: reason?.code, lines: out.trimEnd().split("\n"), error }),
    );
  });
  assert.equal(
    ended.lines.at(-1),
    `${pages * perPage} VolumeSnapshots: ${pages * perPage} errors, 0 warnings`,
    ended.error,
  );
  assert.equal(ended.code, 1);
});
