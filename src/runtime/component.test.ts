import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { draftOf } from "../api/builders.ts";
import type { Handler, HttpResponse } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import { silent } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import { namespaceIn, serviceAccountFolder } from "../kube/config-pod.ts";
import { componentFlags } from "./common-flags.ts";
import { type ComponentContext, runComponent } from "./component.ts";
import { parseFlags } from "./flags.ts";
import type { Component } from "./frame.ts";
import type { Server } from "./serve.ts";
import { overHttp } from "./serve.ts";

const folder = mkdtempSync(join(tmpdir(), "comp-"));
const json = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const status = (code: number, reason: string): HttpResponse =>
  json(code, { kind: "Status", apiVersion: "v1", status: "Failure", message: reason, reason, code });

/** A cluster of configmaps without any, and one lease that a test may hold. */
let lease: Record<string, unknown> | undefined;
let leaseReadable = true;
let leaseWritable = true;
let leaseReads = 0;
const events: { reason: string; message: string; source: { component: string } }[] = [];
const cluster: Handler = async ({ method, path, body }) => {
  if (path === "/api") return json(200, { versions: ["v1"] });
  if (path.startsWith("/api/v1/configmaps"))
    return json(200, { kind: "ConfigMapList", metadata: { resourceVersion: "1" }, items: [] });
  if (path.includes("/events")) {
    events.push(JSON.parse(String(body)));
    return json(201, {
      ...JSON.parse(String(body)),
      metadata: { name: "e", namespace: "team", uid: "e", resourceVersion: "1" },
    });
  }
  if (!path.includes("/leases")) return status(404, "NotFound");
  if (method === "GET") leaseReads += 1;
  if (method === "GET" && !leaseReadable) return status(403, "Forbidden");
  if (method === "GET") return lease === undefined ? status(404, "NotFound") : json(200, lease);
  if (!leaseWritable) return status(500, "InternalError");
  const written = JSON.parse(String(body));
  lease = { ...written, metadata: { ...written.metadata, uid: "u", resourceVersion: String(realWorld.elapsed()) } };
  return json(200, lease);
};
const server: Server = await overHttp(cluster, {
  address: { host: "127.0.0.1", port: 0 },
  log: silent,
  world: realWorld,
});
after(async () => {
  await server.close(0);
  rmSync(folder, { recursive: true });
});

function kubeconfigFor(url: string): string {
  const file = join(folder, `config-${url.replace(/\W/g, "-")}`);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u", namespace: "team" } }],
    clusters: [{ name: "k", cluster: { server: url } }],
    users: [{ name: "u", user: { token: "t0ken-value" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

/** Waits for what must come, however slow the machine is; the runner gives up on a test that hangs. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await realWorld.sleep(2);
}

interface Run {
  readonly argv?: readonly string[];
  readonly url?: string;
  readonly waitMsMax?: number;
  readonly component?: Partial<Component>;
  /** What the test does while the component runs. */
  readonly meanwhile?: (context: ComponentContext, lines: readonly string[]) => Promise<void>;
  readonly onLine?: (line: string) => void;
}

async function run({ argv = [], url = server.url, waitMsMax = 0, component = {}, meanwhile, onLine }: Run) {
  const stop = new AbortController();
  const lines: string[] = [];
  const { options } = parseFlags(componentFlags, [`--kubeconfig=${kubeconfigFor(url)}`, ...argv]);
  let ran = 0;
  let acting: Promise<void> | undefined;
  const untilStopped = (signal: AbortSignal): Promise<void> => {
    ran += 1;
    return whenAborted(signal);
  };
  const code = await runComponent(
    {
      options,
      environment: {},
      signal: stop.signal,
      world: realWorld,
      out: { write: () => undefined },
      error: {
        write: (line) => {
          lines.push(line);
          onLine?.(line);
        },
      },
      version: "1.2.3",
    },
    {
      name: "tester",
      kinds: ["ConfigMap"],
      waitMsMax,
      start: async (context) => {
        acting = (meanwhile ?? (async () => undefined))(context, lines);
        acting.finally(() => stop.abort()).catch(() => undefined);
        return { leaseName: "tester-leader", run: untilStopped, ready: () => undefined, ...component };
      },
    },
  );
  await acting; // What the test found wrong meanwhile is the test's failure.
  return { code, ran, lines };
}

async function fetched(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      let text = `${answer.statusCode} `;
      answer
        .setEncoding("utf8")
        .on("data", (chunk) => (text += chunk))
        .on("end", () => resolve(text));
    }).on("error", reject);
  });
}

test("a component starts, runs, and stops with exit code 0 on a signal", async () => {
  let working = false;
  const { code, lines } = await run({
    component: {
      run: (signal) => {
        working = true;
        return whenAborted(signal);
      },
    },
    meanwhile: () => until(() => working),
  });
  assert.equal(code, 0);
  assert.match(
    lines.join(""),
    /tester\] started version="1\.2\.3" server="http:\/\/127\.0\.0\.1:\d+"\n.*tester\] stopped\n$/s,
  );
});

test("metrics, health and readiness are served while the component runs, and stop gracefully with it", async () => {
  let ready: string | undefined = "caches are filling";
  let served = "";
  const { code } = await run({
    argv: ["--http-endpoint=127.0.0.1:0", "--leader-election"],
    component: { ready: () => ready },
    meanwhile: async (_context, lines) => {
      await until(() => lines.join("").includes("url="));
      const [, url = ""] = /url="([^"]+)"/.exec(lines.join("")) ?? [];
      served = url;
      assert.match(
        await fetched(`${url}/metrics`),
        /rest_client_requests_total\{code="200",method="GET",host="127.0.0.1:\d+"\} \d/,
      );
      assert.equal(await fetched(`${url}/healthz`), "200 ok");
      assert.equal(await fetched(`${url}/healthz/leader-election`), "200 ok");
      assert.equal(await fetched(`${url}/readyz`), "500 ready: caches are filling\n");
      ready = undefined;
      while ((await fetched(`${url}/readyz`)) !== "200 ok") await realWorld.sleep(2);
    },
  });
  assert.equal(code, 0);
  await assert.rejects(fetched(`${served}/metrics`), /ECONNREFUSED/);
});

test("a replica that has not read the lease is not ready", async () => {
  leaseReadable = false;
  const { code } = await run({
    argv: ["--http-endpoint=127.0.0.1:0", "--leader-election", "--leader-election-retry-period=20ms"],
    meanwhile: async (_context, lines) => {
      await until(() => lines.join("").includes("lease cannot be read"));
      const [, url = ""] = /url="([^"]+)"/.exec(lines.join("")) ?? [];
      assert.equal(await fetched(`${url}/readyz`), "500 ready: the lease has not been read yet\n");
      leaseReadable = true;
      while ((await fetched(`${url}/readyz`)) !== "200 ok") await realWorld.sleep(2);
    },
  });
  assert.equal(code, 0);
});

test("metrics and health accept no bodies and few connections, and stay reachable", async () => {
  const open = new Set<Socket>();
  const { code } = await run({
    argv: ["--http-endpoint=127.0.0.1:0"],
    meanwhile: async (_context, lines) => {
      await until(() => lines.join("").includes("url="));
      const [, url = ""] = /url="([^"]+)"/.exec(lines.join("")) ?? [];
      /** Announces 3 MB and sends a part of them. */
      const unfinished = async (length: string): Promise<string> => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1");
        socket.on("error", () => undefined);
        socket.once("close", () => open.delete(socket));
        open.add(socket);
        socket.write(`POST /metrics HTTP/1.1\r\nhost: x\r\n${length}\r\n\r\n1000\r\n${"x".repeat(10_000)}`);
        const [answer] = (await once(socket, "data")) as [Buffer];
        return answer.toString();
      };
      for (const length of ["content-length: 3000000", "transfer-encoding: chunked"])
        assert.match(await unfinished(length), /^HTTP\/1\.1 413 .*connection: close.*requests have no bodies here/is);
      for (let count = 0; count < 150; count++) {
        const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
        socket.once("close", () => open.delete(socket));
        open.add(socket);
        await once(socket, "connect");
        socket.write("GET /healthz HTTP/1.1\r\n");
      }
      await until(() => open.size <= limits.statusConnectionsMax);
      assert.equal(await fetched(`${url}/healthz`), "200 ok");
      assert.ok(open.size > 1, "only who is one too many is cut off");
      for (const socket of open) socket.destroy();
    },
  });
  assert.equal(code, 0);
});

test("an unreachable server is one error line with the kubeconfig and the remedy, without the token", async () => {
  const url = "http://127.0.0.1:1";
  await assert.rejects(run({ url, waitMsMax: 300 }), (reason: Error) => {
    assert.match(
      reason.message,
      /^nothing answers at http:\/\/127\.0\.0\.1:1 \(.*config-http---127-0-0-1-1\); start the API server or correct the address$/,
    );
    assert.equal(reason.message.includes("t0ken"), false);
    return true;
  });
});

test("the component waits for a server that starts within the time limit", async () => {
  const reserve = await overHttp(cluster, { address: { host: "127.0.0.1", port: 0 }, log: silent, world: realWorld });
  const { address, url } = reserve;
  await reserve.close(0);
  let late: Promise<Server> | undefined;
  const onLine = (line: string): void => {
    if (line.includes("waiting for the API server"))
      late = overHttp(cluster, { address, log: silent, world: realWorld });
  };
  const { code, lines } = await run({ url, waitMsMax: 60_000, onLine });
  await (await late)?.close(0);
  assert.equal(code, 0);
  assert.equal(lines.filter((line) => line.includes("waiting for the API server")).length, 1);
  assert.match(lines.join(""), /API server answers/);
});

const election = [
  "--leader-election",
  "--leader-election-lease-duration=1s",
  "--leader-election-renew-deadline=100ms",
  "--leader-election-retry-period=20ms",
];

test("a standby keeps its caches synced, reconciles nothing and sends no writes", async () => {
  lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "tester-leader", namespace: "team", uid: "u", resourceVersion: "1" },
    spec: { holderIdentity: "other", leaseDurationSeconds: 60 },
  };
  let watched = 0;
  const watch = (signal: AbortSignal): Promise<void> => {
    watched += 1;
    return whenAborted(signal);
  };
  const { code, ran } = await run({
    argv: election,
    component: { watch },
    meanwhile: async ({ api, leading }) => {
      const before = leaseReads;
      await until(() => watched === 1 && leaseReads > before + 2);
      assert.equal(leading(), false);
      const write = api.create("ConfigMap", draftOf("ConfigMap", { namespace: "team", name: "a" }, {}));
      await assert.rejects(write, /no longer holds the lease/);
    },
  });
  lease = undefined;
  assert.deepEqual([code, ran, watched], [0, 0, 1]);
});

test("a component without a lease works in every replica, and its writes leave the process", async () => {
  let mayWrite = false;
  const before = leaseReads;
  const { code, ran } = await run({
    argv: ["--leader-election"],
    component: { leaseName: undefined },
    meanwhile: async ({ leading }) => until(() => (mayWrite = leading())),
  });
  assert.deepEqual([code, ran, mayWrite, leaseReads - before], [0, 1, true, 0]);
});

test("two processes on one host have different identities in the leader election", async () => {
  const holders: unknown[] = [];
  for (let times = 0; times < 2; times++)
    await run({
      argv: election,
      meanwhile: async ({ leading }) => {
        await until(leading);
        holders.push((lease?.spec as { holderIdentity?: string } | undefined)?.holderIdentity);
      },
    });
  lease = undefined;
  assert.deepEqual(
    holders.map((holder) => String(holder).split("_")[0]),
    [hostname(), hostname()],
  );
  assert.equal(new Set(holders).size, 2);
});

test("the lease has upstream's namespace, whatever namespace the kubeconfig's context has", async () => {
  await run({ argv: election, meanwhile: ({ leading }) => until(leading) });
  const { namespace } = (lease?.metadata ?? {}) as { namespace?: string };
  lease = undefined;
  assert.equal(namespace, await namespaceIn(serviceAccountFolder)); // On a machine that is no pod: default.
});

test("a leader that cannot renew stops and exits with an error, so that it is restarted", async () => {
  const seen: boolean[] = [];
  let leads: (() => boolean) | undefined;
  const meanwhile = ({ leading, signal }: ComponentContext): Promise<void> => {
    leads = leading;
    return whenAborted(signal);
  };
  const work = (signal: AbortSignal): Promise<void> => {
    seen.push(leads?.() ?? false);
    leaseWritable = false;
    return whenAborted(signal);
  };
  await assert.rejects(run({ argv: election, meanwhile, component: { run: work } }), {
    message: "lost the lease tester-leader; ending so that a fresh start can stand by",
  });
  leaseWritable = true;
  lease = undefined;
  assert.deepEqual(seen, [true]);
});

test("events on the lease report leadership changes, with client-go's source", async () => {
  const before = events.length;
  let holder = "";
  await run({
    argv: election,
    meanwhile: async ({ leading }) => {
      await until(leading);
      holder = String((lease?.spec as { holderIdentity?: string } | undefined)?.holderIdentity);
    },
  });
  lease = undefined;
  assert.deepEqual(
    events.slice(before).map(({ reason, message, source }) => `${source.component}: ${reason} ${message}`),
    ["became leader", "stopped leading"].map((what) => `tester-leader/${holder}: LeaderElection ${holder} ${what}`),
  );
});

test("a watch that ends by itself ends the component with an error message", () =>
  assert.rejects(run({ component: { watch: async () => undefined }, meanwhile: () => realWorld.sleep(1_000) }), {
    message: "the watch ended by itself",
  }));

test("an event that is recorded during shutdown is still sent", async () => {
  const about = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "team", uid: "u", resourceVersion: "1" },
  };
  const meanwhile = async ({ recordAs }: ComponentContext): Promise<void> =>
    recordAs("tester disk")(about, { type: "Normal", reason: "Ready", message: "it is" });
  const before = events.length;
  await run({ meanwhile });
  assert.deepEqual(
    events.slice(before).map(({ reason, source }) => [reason, source.component]),
    [["Ready", "tester disk"]],
  );
});
