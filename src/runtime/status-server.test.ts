import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { silent } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import { createMetrics } from "./metrics.ts";
import { overHttp } from "./serve.ts";
import { serveStatusOverTls } from "./status-server.ts";

const folder = mkdtempSync(join(tmpdir(), "status-"));
after(() => rmSync(folder, { recursive: true }));
const authority = createAuthority("test");
/** Looks every few milliseconds instead of every few seconds. */
const world = { ...realWorld, sleep: (_ms: number, signal?: AbortSignal) => realWorld.sleep(5, signal) };

function serving(name: string, endpoint: string) {
  const files = { certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
  const said: { readonly message: string; readonly reason?: unknown; readonly url?: unknown }[] = [];
  const log = { ...silent, info: (message: string, more = {}) => void said.push({ message, ...more }) };
  const metrics = createMetrics();
  const table = { mounts: { type: "counter", name: "mounts_total", help: "Mounts.", labels: [] } } as const;
  metrics.instruments(table).mounts.add({});
  const pages = { metrics, metricsPath: "/metrics", ready: () => undefined, health: {} };
  const { close } = serveStatusOverTls({ endpoint, files }, pages, { log, world });
  const urlOf = async (): Promise<string> => {
    for (;;) {
      const url = said.find(({ message }) => message === "serving metrics and health over TLS")?.url;
      if (url !== undefined) return String(url);
      await sleep(5);
    }
  };
  const issue = (commonName: string): void => {
    const { certificate, key } = authority.issue({ commonName, ipv4: ["127.0.0.1"] });
    writeFileSync(files.keyFile, key);
    writeFileSync(files.certFile, certificate);
  };
  return { close, said, issue, urlOf };
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly name: unknown;
}

/** Over a connection of its own, trusting nobody but the authority. */
const ask = (url: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    get(url, { ca: authority.certificate, agent: false }, (response) => {
      const { subject } = (response.socket as import("node:tls").TLSSocket).getPeerCertificate();
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, text, name: subject.CN }));
    }).on("error", reject);
  });

test("metrics are served over TLS as soon as there is a certificate, and with the next one after its renewal", async () => {
  const { close, said, issue, urlOf } = serving("late", "127.0.0.1:0");
  while (said.length === 0) await sleep(5);
  // One line, however often it looks.
  await sleep(50);
  assert.deepEqual(
    said.map(({ message }) => message),
    ["metrics are not served over TLS"],
  );
  assert.match(String(said[0]?.reason), /late\.crt cannot be read \(ENOENT\)/);
  issue("first");
  const url = `${await urlOf()}/metrics`;
  const first = await ask(url);
  assert.deepEqual([first.status, first.name], [200, "first"]);
  assert.match(first.text, /^mounts_total 1$/m);
  issue("second");
  while ((await ask(url)).name !== "second") await sleep(5);
  await close();
  await assert.rejects(ask(url), { code: "ECONNREFUSED" });
});

test("a port that is taken is reported, and tried again until it is free", async () => {
  const other = await overHttp(async () => ({ status: 200, headers: {}, body: "" }), {
    address: { host: "127.0.0.1", port: 0 },
    log: silent,
    world,
  });
  const { close, said, issue, urlOf } = serving("taken", `127.0.0.1:${other.address.port}`);
  issue("taken");
  while (!said.some(({ reason }) => String(reason).includes("another program listens there"))) await sleep(5);
  await other.close();
  assert.equal((await ask(`${await urlOf()}/readyz`)).text, "ok");
  await close();
});

test("without an address nothing is served", async () => {
  const { close, said, issue } = serving("off", "");
  issue("off");
  await sleep(30);
  await close();
  assert.deepEqual(said, []);
});
