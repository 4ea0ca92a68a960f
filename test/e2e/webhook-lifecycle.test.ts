/** The webhook on a real API server over its whole life: turned off and on, down, renewed, restarted, and asked by strangers. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { draftOf } from "../../src/api/builders.ts";
import { labels } from "../../src/api/names.ts";
import { isFault } from "../../src/base/fault.ts";
import { claimSourceTable, configMapSource, customSource } from "../claim-source-table.ts";
import { type Backend, startBalancer } from "./harness/balancer.ts";
import { createAuthority } from "./harness/certificates.ts";
import { aBoundClaim, startComponent } from "./harness/components.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import type { Daemon } from "./harness/instance.ts";
import { freePort } from "./harness/ports.ts";
import { drivers, type SnapshotSuite, snapshotSuiteFor, type TestServer } from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";
import { groundOfV1beta1 } from "./harness/v1beta1.ts";
import {
  type ConfigurationName,
  createTestWebhook,
  isReady,
  type ReplicaPlace,
  startReplica,
  type TestWebhook,
} from "./harness/webhook.ts";

const namespace = "default";
const both = { persistentVolumeClaimName: "data", volumeSnapshotContentName: "any" };
const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;

describe("the life of the webhook", () => {
  let place: TestServer;
  let plane: ControlPlane;
  let client: TestServer["connection"]["client"];
  let webhook: TestWebhook;
  let stand: SnapshotSuite;
  before(async () => {
    place = await groundOfV1beta1("real control plane", { CrossNamespaceVolumeDataSource: false });
    plane = place.plane ?? assert.fail();
    client = place.connection.client;
    webhook = await createTestWebhook(plane);
    await webhook.start();
    await startComponent(place, "snapshot-controller");
    stand = await snapshotSuiteFor(place, place.connection, await drivers["directory-driver"](place.instance));
    await aBoundClaim(stand.fixtures, "data");
  });
  after(() => {
    stand?.fixtures.csi.close();
    place?.stop();
  });

  const create = (name: string, source: object, dryRun = false) =>
    client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name }, { spec: { source } } as never), {
      dryRun,
    });
  const reasonOf = (attempt: Promise<unknown>): Promise<string> =>
    attempt.then(
      () => "",
      (reason: Error) => reason.message,
    );
  const probe = () => reasonOf(create("probe", both, true));
  const aClaim = (name: string, sources: object) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "none",
      resources: { requests: { storage: "1Mi" } },
      ...sources,
    },
  });
  type Probed = Exclude<ConfigurationName, "shares">;
  const probes: Readonly<Record<Probed, () => Promise<string>>> = {
    snapshots: probe,
    claims: async () =>
      (await plane.request("POST", `${claims}?dryRun=All`, aClaim("probe", { dataSource: configMapSource }))).text,
  };
  const enable = async (name: Probed, at?: string) => {
    await webhook.configure(name, "Fail", at);
    await until({ what: `the webhook is asked about ${name}` }, async () =>
      /\[SNAP-1[03]1\]/.test(await probes[name]()) ? true : undefined,
    );
  };
  const disable = async (name: Probed) => {
    await webhook.unconfigure(name);
    await until({ what: `the webhook is not called for ${name}` }, async () =>
      /denied the request|failed calling/.test(await probes[name]()) ? undefined : true,
    );
  };
  const untilLabelled = (name: string) =>
    until({ what: `snapshot ${name} is labelled` }, async () =>
      (await stand.get(name)).metadata.labels?.[labels.invalidSnapshot] === "" ? true : undefined,
    );

  test("invalid objects that were stored while the webhook was disabled are labelled, can be corrected, and can be deleted", async () => {
    await enable("snapshots");
    await assert.rejects(create("early", both), /denied the request: spec\.source: .*\[SNAP-101\]/);
    await disable("snapshots");
    await create("stored-invalid", both);
    await create("stored-to-mend", {});
    const ref = { kind: "VolumeSnapshotContent", name: "stored-invalid" } as const;
    const spec = {
      driver: "driver.example",
      deletionPolicy: "Delete",
      source: { snapshotHandle: "h" },
      volumeSnapshotRef: { name: "x" },
    };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", ref, { spec } as never));
    await enable("snapshots");
    await untilLabelled("stored-invalid");
    await until({ what: "the content is labelled" }, async () =>
      (await client.get(ref)).metadata.labels?.[labels.invalidContent] === "" ? true : undefined,
    );
    const mended = { spec: { source: { persistentVolumeClaimName: "data" } } };
    await client.patch(stand.ref("stored-to-mend"), { type: "merge", body: mended });
    await until({ what: "the label of the corrected object is removed" }, async () =>
      (await stand.get("stored-to-mend")).metadata.labels?.[labels.invalidSnapshot] === undefined ? true : undefined,
    );
    for (const name of ["stored-invalid", "stored-to-mend"]) await stand.remove(name);
    await client.delete(ref);
    await stand.untilGone(ref);
  });

  test("a source that is changed after binding, while the webhook is down, is labelled, keeps its data, and is deleted with it", async () => {
    await stand.take("bound", "data", stand.classes.delete);
    await stand.untilReady("bound");
    const handles = await stand.handles();
    await webhook.stop();
    await disable("snapshots");
    await client.patch(stand.ref("bound"), { type: "merge", body: { spec: { source: both } } });
    await untilLabelled("bound");
    const { status } = await stand.get("bound");
    assert.notEqual(status?.boundVolumeSnapshotContentName ?? "", "");
    assert.deepEqual(await stand.handles(), handles);
    await stand.remove("bound");
    await until({ what: "the data is deleted at last" }, async () =>
      (await stand.handles()).length === handles.length - 1 ? true : undefined,
    );
    await webhook.start();
  });

  test("while the webhook is down, Ignore admits an invalid object, which is labelled, and Fail rejects every object with the server's message", async () => {
    await enable("snapshots");
    await webhook.stop();
    await until({ what: "the server fails to call" }, async () =>
      /failed calling webhook/.test(await probe()) ? true : undefined,
    );
    await assert.rejects(create("refused", { persistentVolumeClaimName: "data" }), (reason: Error) => {
      assert.match(
        reason.message,
        /failed calling webhook "snapshot\.webhook-validation\.storage\.sigs\.k8s\.io".*connection refused/,
      );
      return isFault(reason);
    });
    await webhook.configure("snapshots", "Ignore");
    await until({ what: "the server ignores that" }, async () => ((await probe()) === "" ? true : undefined));
    await create("let-in", both);
    await untilLabelled("let-in");
    await webhook.start();
    await enable("snapshots");
    await stand.remove("let-in");
  });

  test("with --client-ca-file only clients with a certificate of that authority get a response", async () => {
    const clients = createAuthority("clients");
    const file = join(plane.folder, "clients.crt");
    writeFileSync(file, clients.certificate);
    await webhook.stop();
    await webhook.start(`--client-ca-file=${file}`);
    const known = clients.issue({ commonName: "kube-apiserver" });
    const others = createAuthority("others");
    const other = others.issue({ commonName: "kube-apiserver" });
    assert.equal(await health(webhook, { cert: known.certificate, key: known.key }), 200);
    await assert.rejects(health(webhook, {}), /alert|ECONNRESET|socket/i);
    await assert.rejects(health(webhook, { cert: other.certificate, key: other.key }), /alert|ECONNRESET|socket/i);
    // The API server of this test has no certificate for webhooks: it has no client certificate, too.
    await until({ what: "the API server is refused" }, async () =>
      /failed calling webhook/.test(await probe()) ? true : undefined,
    );
    const refused = async (reason: string): Promise<number> => {
      const text = await (await fetch(`${webhook.metricsUrl}/metrics`)).text();
      const line = new RegExp(`^snapshot_webhook_refused_connections_total{reason="${reason}"} (\\d+)$`, "m").exec(
        text,
      );
      return Number(line?.[1] ?? 0);
    };
    assert.ok((await refused("client-certificate")) >= 3);
    const log = readFileSync(webhook.daemon().log, "utf8");
    assert.equal(log.split("\n").filter((line) => /connection refused.*client-certificate/.test(line)).length, 1, log);

    writeFileSync(file, others.certificate);
    await until({ what: "the other authority counts" }, async () =>
      (await health(webhook, { cert: other.certificate, key: other.key }).catch(() => undefined)) === 200
        ? true
        : undefined,
    );
    await assert.rejects(health(webhook, { cert: known.certificate, key: known.key }), /alert|ECONNRESET|socket/i);
    await webhook.stop();
    await webhook.start();
    await enable("snapshots");
  });

  test("an API server that does not accept the webhook's certificate is counted by that reason", async () => {
    const serving = readFileSync(webhook.certFile, "utf8");
    const key = readFileSync(webhook.keyFile, "utf8");
    const strange = createAuthority("strange").issue({ commonName: "webhook", ipv4: ["127.0.0.1"] });
    await webhook.stop();
    writeFileSync(webhook.certFile, strange.certificate);
    writeFileSync(webhook.keyFile, strange.key);
    await webhook.start();
    await until({ what: "the API server's refusal is counted" }, async () => {
      assert.match(await probe(), /failed calling webhook/);
      const text = await (await fetch(`${webhook.metricsUrl}/metrics`)).text();
      return /^snapshot_webhook_refused_connections_total\{reason="certificate"\} [1-9]/m.test(text) ? true : undefined;
    });
    await webhook.stop();
    writeFileSync(webhook.certFile, serving);
    writeFileSync(webhook.keyFile, key);
    await webhook.start();
    await enable("snapshots");
  });

  test("a certificate renewal and a rolling restart of three replicas under load lose no request", async () => {
    const { certFile, keyFile } = webhook;
    const places: ReplicaPlace[] = [];
    for (let index = 0; index < 3; index++)
      places.push({ certFile, keyFile, port: await freePort(), metricsPort: await freePort() });
    // Longer than the balancer needs to notice that a replica is not ready, also on a busy machine.
    const flags = ["--shutdown-delay-duration=3s"];
    const replicas: Daemon[] = await Promise.all(places.map((replica) => startReplica(plane, replica, flags)));
    const backends: Backend[] = places.map(({ port, metricsPort }) => ({ port, isReady: () => isReady(metricsPort) }));
    const balancer = await startBalancer(backends);
    try {
      await enable("snapshots", `https://127.0.0.1:${balancer.port}`);
      const failures: string[] = [];
      const loading = new AbortController();
      let answered = 0;
      const lane = async (): Promise<void> => {
        while (!loading.signal.aborted) {
          const reason = await probe();
          answered += 1;
          if (!reason.includes("[SNAP-101]")) failures.push(reason);
        }
      };
      const lanes = Array.from({ length: 8 }, lane);
      webhook.renew();
      for (const [index, replica] of places.entries()) {
        await replicas[index]?.stop();
        replicas[index] = await startReplica(plane, replica, flags);
        await sleep(500);
      }
      loading.abort();
      await Promise.all(lanes);
      assert.deepEqual(failures, []);
      assert.ok(answered > 200, `only ${answered} requests were made`);
    } finally {
      for (const replica of replicas) await replica.stop();
      balancer.close();
      await enable("snapshots");
    }
  });

  test("a renewed certificate is served without a restart", async () => {
    const seen = await serialOf(webhook);
    webhook.renew();
    await until({ what: "the new certificate is served" }, async () =>
      (await serialOf(webhook)) === seen ? undefined : true,
    );
    assert.match(await probe(), /\[SNAP-101\]/);
  });

  for (const gate of ["on", "off"] as const)
    describe(`claims, with AnyVolumeDataSource ${gate}`, () => {
      before(async () => {
        if (gate === "off") {
          await webhook.stop();
          await webhook.start("--feature-gates=AnyVolumeDataSource=false");
        }
        await enable("claims");
      });
      for (const [index, { given, sources, [gate]: refused }] of claimSourceTable.entries())
        test(`${given}: ${refused ?? "allowed"}, by dry run as well`, async () => {
          for (const query of ["?dryRun=All", ""]) {
            const { status, text } = await plane.request(
              "POST",
              `${claims}${query}`,
              aClaim(`${gate}-${index}`, sources),
            );
            assert.equal(status, refused === undefined ? 201 : 422, text);
            if (refused !== undefined) assert.match(JSON.parse(text).message, new RegExp(`\\[${refused}\\]$`));
            else assert.deepEqual(sourcesIn(JSON.parse(text)), sourcesIn({ spec: sources }), "it is kept as written");
          }
        });
    });

  test("an update of a claim with its existing invalid source is allowed, and with another invalid source rejected", async () => {
    // With the gate off by now, the claim from a custom kind that was stored before breaks a rule.
    const name = `on-${claimSourceTable.findIndex(({ given }) => given === "a custom kind")}`;
    const stored = JSON.parse((await plane.request("GET", `${claims}/${name}`)).text);
    assert.deepEqual(stored.spec.dataSource, customSource);
    const labelled = { ...stored, metadata: { ...stored.metadata, labels: { a: "b" } } };
    assert.equal((await plane.request("PUT", `${claims}/${name}`, labelled)).status, 200);
    const changed = { ...labelled, spec: { ...stored.spec, dataSource: configMapSource, dataSourceRef: undefined } };
    delete changed.metadata.resourceVersion;
    for (const query of ["?dryRun=All", ""]) {
      const { status, text } = await plane.request("PUT", `${claims}/${name}${query}`, changed);
      assert.equal(status, 422, text);
      assert.match(JSON.parse(text).message, /\[SNAP-131\]$/);
    }
    assert.equal((await plane.request("DELETE", `${claims}/${name}`)).status, 200);
  });
});

interface Sources {
  readonly dataSource?: unknown;
  readonly dataSourceRef?: unknown;
}

/** The one source that a claim has, in whichever field: the server mirrors it into both. */
function sourcesIn({ spec: { dataSource, dataSourceRef } }: { readonly spec: Sources }) {
  const source = dataSource ?? dataSourceRef;
  return { dataSource: source ?? undefined };
}

const health = ({ url, authority }: TestWebhook, identity: object): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    httpsRequest(`${url}/healthz`, { ca: authority.certificate, agent: false, ...identity }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    })
      .on("error", reject)
      .end();
  });

const serialOf = ({ url, authority }: TestWebhook): Promise<string> =>
  new Promise((resolve, reject) => {
    httpsRequest(`${url}/healthz`, { ca: authority.certificate, agent: false }, (answer) => {
      const { serialNumber } = (answer.socket as import("node:tls").TLSSocket).getPeerCertificate();
      answer.resume().on("end", () => resolve(serialNumber));
    })
      .on("error", reject)
      .end();
  });
