import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { createMemoryLog, eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { freePort } from "../../../test/e2e/harness/ports.ts";
import { draftOf } from "../../api/builders.ts";
import { type KindName, kindRows } from "../../api/kinds.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import { isFault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { servedKinds } from "../reference.ts";
import { startStack } from "./stack.ts";

test("a stack that failed to start, or has stopped, frees its port and its folder", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  const port = await freePort();
  const stopping = new AbortController();
  const { signal } = stopping;
  const startIn = (root: string) => startStack({ world: realWorld, log: silent, version: "1.2.3", port, root, signal });

  await assert.rejects(startIn(file), /there is a file of that name/);
  const stack = await startIn(join(folder, "root"));
  stopping.abort();
  await stack.stopped;
  const next = await startIn(join(folder, "root"));
  await next.stopped;
});

test("a claim without a class gets a volume, which is deleted with the claim; at verbosity 5 writes and calls are logged", async (t) => {
  const root = join(temporaryFolder(t), "root");
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = createMemoryLog();
  const { client, stopped } = await startStack({
    world: realWorld,
    log,
    version: "1.2.3",
    port: 0,
    root,
    signal,
  });
  t.after(() => {
    stopping.abort();
    return stopped;
  });
  const ref = { kind: "PersistentVolumeClaim", namespace: "default", name: "mine" } as const;
  await client.create(
    ref.kind,
    draftOf(
      ref.kind,
      { namespace: ref.namespace, name: ref.name },
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } } },
    ),
  );
  await eventually("the claim is bound", async () => (await client.get(ref)).status?.phase === "Bound");
  const { spec } = await client.get(ref);
  assert.equal(spec?.storageClassName, "directory");
  assert.ok(existsSync(join(root, "volumes", spec?.volumeName ?? "", "data")));
  await client.delete(ref);
  await eventually("the volume is deleted", () => readdirSync(join(root, "volumes")).length === 0);
  const tookOf = (message: string, method: string, path?: RegExp): unknown =>
    log.lines.find(
      (line) =>
        line.message === message &&
        line.component === "csi-provisioner" &&
        line.method === method &&
        (path === undefined || path.test(String(line.path))),
    )?.tookMs;
  assert.equal(typeof tookOf("api write finished", "POST", /\/persistentvolumes$/), "number");
  assert.equal(typeof tookOf("csi call finished", "/csi.v1.Controller/CreateVolume"), "number");
});

test("the webhook of up refuses what the definitions accept, and nobody listens at its address afterwards", async (t) => {
  const root = join(temporaryFolder(t), "root");
  const stopping = new AbortController();
  const { signal } = stopping;
  const { client, stopped } = await startStack({
    world: realWorld,
    log: silent,
    version: "1.2.3",
    port: 0,
    root,
    signal,
  });
  const take = (claim: string, name: string) =>
    client.create(
      "VolumeSnapshot",
      draftOf(
        "VolumeSnapshot",
        { namespace: "default", name },
        { spec: { source: { persistentVolumeClaimName: claim } } },
      ),
    );
  await assert.rejects(
    take("", "bad"),
    /admission webhook "snapshot\.webhook-validation\.storage\.sigs\.k8s\.io" denied the request: spec\.source: .*\[SNAP-101\]$/,
  );
  await take("data", "good");
  const { webhooks = [] } = await client.get({
    kind: "ValidatingWebhookConfiguration",
    name: snapshotConfigurationName,
  });
  stopping.abort();
  await stopped;
  const port = Number(new URL(webhooks[0]?.clientConfig.url ?? "").port);
  await assert.rejects(once(connect(port, "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
});

test("the API server of up serves exactly the kinds that the reference lists", async (t) => {
  const root = join(temporaryFolder(t), "root");
  const stopping = new AbortController();
  const { signal } = stopping;
  const { client, stopped } = await startStack({
    world: realWorld,
    log: silent,
    version: "1.2.3",
    port: 0,
    root,
    signal,
  });
  const served: KindName[] = [];
  for (const kind of Object.keys(kindRows) as KindName[])
    await client.list(kind).then(
      () => served.push(kind),
      (reason: unknown) => assert.equal(isFault(reason, "NotFound"), true, kind),
    );
  stopping.abort();
  await stopped;
  assert.deepEqual(served, servedKinds);
});

test("each component holds the Lease that it has in a cluster, so that explain knows that it runs", async (t) => {
  const root = join(temporaryFolder(t), "root");
  const stopping = new AbortController();
  const { signal } = stopping;
  const { client, stopped } = await startStack({
    world: realWorld,
    log: silent,
    version: "1.2.3",
    port: 0,
    root,
    signal,
  });
  t.after(() => {
    stopping.abort();
    return stopped;
  });
  const heldLeases = async (): Promise<readonly string[]> =>
    (await client.list("Lease", { namespace: "kube-system" })).objects
      .filter(({ spec }) => spec?.holderIdentity)
      .map(({ metadata }) => metadata.name);
  const wanted = [
    "snapshot-controller-leader",
    "external-snapshotter-leader-directory-snapkeep-dev",
    "directory-snapkeep-dev",
  ];
  await eventually("the leases are held", async () => {
    const held = await heldLeases();
    return wanted.every((name) => held.includes(name));
  });
});
