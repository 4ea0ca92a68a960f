/** Replicas of the webhook that renew the certificates themselves, over years of a virtual clock. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { setTimeout as reallySleep } from "node:timers/promises";
import { claims, dayMs, options, place, secret, setUp, trusts } from "../../../../test/certificate-renewal.ts";
import { draftOf } from "../../../api/builders.ts";
import { claimConfiguration } from "../../../api/manifests/webhook-configurations.ts";
import { Fault } from "../../../base/fault.ts";
import { type Log, silent } from "../../../base/log.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { keepCertificates } from "./upkeep.ts";

const minuteMs = 60_000;
const lease = { kind: "Lease", namespace: options.namespace, name: "hook-certificates" } as const;

async function withReplicas() {
  const stage = await setUp();
  const { api, world, entries } = stage;
  const body = { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } };
  await api.create("Secret", draftOf("Secret", secret, body));
  const start = (identity: string, seenBy: KubeApi = api, log: Log = silent) => {
    const stop = new AbortController();
    const done = keepCertificates(
      { world, log, connect: async () => ({ api: seenBy }) },
      { ...options, lease: lease.name, identity },
      stop.signal,
    );
    return {
      stop: async () => {
        stop.abort();
        await world.run(done);
      },
    };
  };
  const served = async (): Promise<string> => (await entries().catch(() => undefined))?.["tls.crt"] ?? "";
  /** Time passes second by second, and slowly enough for keys to be made: that takes real time. */
  const until = async (what: string, isTrue: () => Promise<boolean>, always = async (): Promise<void> => undefined) => {
    for (let second = 0; !(await isTrue()); second++) {
      assert.ok(second < 600, `after ten minutes still not: ${what}`);
      await always();
      await world.advance(1_000);
      await reallySleep(1);
    }
  };
  const untilServed = (always?: () => Promise<void>) =>
    until("a certificate of the next weeks", async () => isGood(await served(), world.now()), always);
  return { ...stage, start, served, until, untilServed };
}

const isGood = (certificate: string, nowMs: number): boolean =>
  certificate !== "" && Date.parse(new X509Certificate(certificate).validTo) > nowMs + 28 * dayMs;

/** Warnings as they are logged. */
function listening() {
  const warnings: string[] = [];
  const log: Log = {
    ...silent,
    warn: (message, fields = {}) =>
      void warnings.push(`${message}: ${String((fields as { reason?: unknown }).reason)}`),
    with: () => log,
  };
  return { warnings, log };
}

test("one of three replicas renews, year after year, and nobody serves what a configuration does not trust", async () => {
  const { world, writes, entries, bundles, start, served, untilServed } = await withReplicas();
  const replicas = ["a", "b", "c"].map((name) => start(name));
  await untilServed();
  const certificates = new Set<string>();
  for (let month = 0; month < 130; month++) {
    const before = await served();
    certificates.add(before);
    world.jump(29 * dayMs);
    await untilServed(async () => {
      for (const bundle of await bundles()) assert.ok(trusts(bundle, before), `month ${month}`);
    });
    for (const bundle of await bundles())
      for (const one of [before, await served()]) assert.ok(trusts(bundle, one), `month ${month}`);
  }
  assert.ok(certificates.size >= 10 && certificates.size <= 13, String(certificates.size));
  assert.ok((await entries())["ca-previous.crt"] !== undefined, "the authority of ten years was replaced as well");
  const stored = writes.filter((write) => write === `PATCH ${secret.name}`).length;
  assert.ok(stored <= certificates.size + 2, `${stored} writes, by more than one replica`);
  for (const { stop } of replicas) await stop();
});

test("when the leader ends, another replica renews", async () => {
  const { world, api, start, served, untilServed } = await withReplicas();
  const first = start("first");
  await untilServed();
  const second = start("second");
  await world.advance(minuteMs);
  const before = await served();
  assert.match((await api.get(lease)).spec?.holderIdentity ?? "", /^first/);
  await first.stop();
  world.jump(340 * dayMs);
  await untilServed();
  assert.notEqual(await served(), before);
  await second.stop();
});

test("a configuration that is applied later gets its caBundle within a minute, without anybody's command", async () => {
  const { world, api, bundles, start, served, untilServed } = await withReplicas();
  const replica = start("only");
  await untilServed();
  await api.delete(claims);
  await api.create(claims.kind, claimConfiguration(place) as never);
  assert.ok((await bundles()).includes(""));
  await world.advance(minuteMs + 5_000);
  for (const bundle of await bundles()) assert.ok(trusts(bundle, await served()));
  await replica.stop();
});

test("a Secret of cert-manager is left to it, although it expires", async () => {
  const { world, api, writes, start, untilServed } = await withReplicas();
  const replica = start("only");
  await untilServed();
  const annotations = { "cert-manager.io/certificate-name": "hook" };
  await api.patch(secret, { type: "merge", body: { metadata: { annotations } } });
  writes.length = 0;
  world.jump(360 * dayMs);
  await world.advance(10 * minuteMs);
  assert.deepEqual(
    writes.filter((write) => !write.includes(lease.name)),
    [],
  );
  await replica.stop();
});

test("a refused write is one warning with the remedy's reason, and the renewal goes on when the right is there", async () => {
  const { world, api, start, untilServed } = await withReplicas();
  let isRefused = true;
  const guarded: KubeApi = {
    ...api,
    get: async (ref, query) => {
      if (isRefused && ref.kind === "Secret") throw new Fault("PermissionDenied", "secrets are forbidden");
      return api.get(ref, query);
    },
  };
  const { warnings, log } = listening();
  const replica = start("only", guarded, log);
  await world.advance(10 * minuteMs);
  assert.deepEqual(warnings, ["the webhook's certificate cannot be renewed: secrets are forbidden"]);
  isRefused = false;
  await untilServed();
  await replica.stop();
});

test("a lease that cannot be renewed ends nothing: the replica waits for it again", async () => {
  const { world, api, start, served, untilServed } = await withReplicas();
  let isDown = false;
  const flaky: KubeApi = {
    ...api,
    replace: async (kind, object, query) => {
      if (isDown && kind === "Lease") throw new Fault("Unavailable", "down");
      return api.replace(kind, object, query);
    },
  };
  const replica = start("only", flaky);
  await untilServed();
  isDown = true;
  await world.advance(5 * minuteMs);
  isDown = false;
  const before = await served();
  world.jump(340 * dayMs);
  await untilServed();
  assert.notEqual(await served(), before);
  await replica.stop();
});

test("without an API server the webhook only says that nobody renews", async () => {
  const { world, log, warnings } = { ...(await withReplicas()), ...listening() };
  const connect = async (): Promise<never> => {
    throw new Fault("InvalidArgument", "no kubeconfig");
  };
  const signal = new AbortController().signal;
  await keepCertificates({ world, log, connect }, { ...options, lease: lease.name, identity: "x" }, signal);
  assert.deepEqual(warnings, ["no API access: the webhook's certificate is not renewed: no kubeconfig"]);
});

test("a Secret that is not there is missed once, and not created: whoever installs does that", async () => {
  const { world, api, writes, start } = await withReplicas();
  await api.delete(secret);
  writes.length = 0;
  const { warnings, log } = listening();
  const replica = start("only", api, log);
  await world.advance(10 * minuteMs);
  assert.deepEqual(warnings, [
    `the webhook's certificate cannot be renewed: Secret ${secret.namespace}/${secret.name} does not exist`,
  ]);
  assert.ok(!writes.includes("POST secrets"));
  await replica.stop();
});
