/** `snapkeep migrate` typed at the embedded API server: steps, records, interruptions, and what it refuses. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type HarnessOptions, startHarness } from "../../../test/command-harness.ts";
import { draftOf } from "../../api/builders.ts";
import { type CrdPhase, crdNameOf, snapshotCrds, snapshotKinds } from "../../api/crds/index.ts";
import { parse } from "../../base/json.ts";
import { recordAnnotation } from "./definition.ts";

type Harness = Awaited<ReturnType<typeof startHarness>>;

async function clusterIn(t: TestContext, phase: CrdPhase | undefined, options: Partial<HarnessOptions> = {}) {
  const definitions = phase === undefined ? [] : snapshotCrds(phase);
  const harness = await startHarness(t, { definitions, ...options });
  const migrate = async (...argv: readonly string[]) => {
    const { code, said } = harness.start(
      "migrate",
      ...argv,
      ...(argv.includes("--status") ? [] : ["--settle-duration=0s"]),
    );
    return { code: await code, text: said() };
  };
  const crds = async () => {
    const { objects } = await harness.client.list("CustomResourceDefinition");
    return snapshotKinds.flatMap((kind) => objects.filter(({ metadata }) => metadata.name === crdNameOf(kind)));
  };
  const stored = async () => (await crds()).map(({ status }) => status?.storedVersions?.join());
  const records = async () =>
    (await crds()).map(
      ({ metadata }) => parse(metadata.annotations?.[recordAnnotation] ?? "{}") as { step?: string; goal?: number },
    );
  const phaseNow = async () => JSON.parse((await migrate("--status", "-o", "json")).text).phase as unknown;
  return { ...harness, migrate, crds, stored, records, phaseNow };
}

async function withSnapshots({ client }: Harness, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await client.create(
      "VolumeSnapshot",
      draftOf(
        "VolumeSnapshot",
        { namespace: "default", name: `s-${index}` },
        { spec: { source: { persistentVolumeClaimName: "data" } } },
      ),
    );
}

test("from phase 1 to 3 and back: each step is said, recorded, and rewrites what is stored", async (t) => {
  const cluster = await clusterIn(t, 1);
  await withSnapshots(cluster, 3);
  const up = await cluster.migrate("--to-phase=3");
  assert.equal(up.code, 0, up.text);
  assert.match(up.text, /^1\/15 apply the CRD of phase 2 to /);
  assert.match(up.text, /^15\/15 /m);
  assert.match(
    up.text,
    /the 3 snapshot CRDs are in phase 3; kubectl caches the versions of before for up to six hours: .*\n$/,
  );
  assert.deepEqual([await cluster.stored(), await cluster.phaseNow()], [["v1", "v1", "v1"], 3]);
  for (const { step, goal } of await cluster.records()) assert.deepEqual([step, goal], ["finished", 3]);
  assert.equal((await cluster.migrate("--to-phase=3")).text, "all snapshot CRDs are in phase 3; nothing to do\n");
  const back = await cluster.migrate("--rollback");
  assert.equal(back.code, 0, back.text);
  assert.deepEqual([await cluster.stored(), await cluster.phaseNow()], [["v1beta1", "v1beta1", "v1beta1"], 2]);
  const { text } = await cluster.migrate("--rollback");
  assert.match(text, /the 3 snapshot CRDs are in phase 1; kubectl /);
  assert.equal(await cluster.phaseNow(), 1);
  assert.equal((await cluster.client.list("VolumeSnapshot", { version: "v1beta1" })).objects.length, 3);
});

test("a cluster without CRDs gets those of the phase, and no rollback", async (t) => {
  const { migrate, phaseNow, crds } = await clusterIn(t, undefined);
  assert.match((await migrate("--status")).text, /are not installed; snapkeep migrate --to-phase=3 installs them\n$/);
  assert.match((await migrate("--rollback")).text, /not installed; there is nothing to go back from \[SNAP-605\]/);
  const { code, text } = await migrate("--to-phase=2");
  assert.equal(code, 0, text);
  assert.deepEqual([await phaseNow(), (await crds()).length], [2, 3]);
});

test("a dry run prints the steps, as text and as JSON, and changes nothing", async (t) => {
  const { migrate, crds } = await clusterIn(t, 1);
  const before = await crds();
  const { code, text } = await migrate("--to-phase=2", "--dry-run");
  assert.equal(code, 0);
  assert.match(text, /^1\. apply the CRD of phase 2 to \S+\n2\. .*\n(?:\d\. .*\n){4}$/);
  const json = JSON.parse((await migrate("--to-phase=2", "--dry-run", "-o", "json")).text) as { steps: string[] };
  assert.equal(json.steps.length, 6);
  assert.deepEqual(await crds(), before);
});

test("an invalid object stops it before anything is written", async (t) => {
  const cluster = await clusterIn(t, 1);
  const before = await cluster.crds();
  await cluster.client.create(
    "VolumeSnapshot",
    draftOf("VolumeSnapshot", { namespace: "default", name: "both" }, {
      spec: { source: { persistentVolumeClaimName: "data", volumeSnapshotContentName: "any" } },
    } as never),
  );
  const { code, text } = await cluster.migrate("--to-phase=2");
  assert.equal(code, 1);
  assert.match(
    text,
    /VolumeSnapshot default\/both: .*\n(?:.*\n)*1 violation; correct or delete the objects \[SNAP-601\]/,
  );
  assert.match(text, /refused for what is listed above; nothing was changed\n$/);
  assert.deepEqual(await cluster.crds(), before);
});

test("phase 2 may serve v1beta1 as well, until its clients are gone", async (t) => {
  const { migrate, crds } = await clusterIn(t, 1);
  assert.equal((await migrate("--to-phase=2", "--serve-v1beta1")).code, 0);
  const served = async () =>
    (await crds()).map(({ spec }) => spec?.versions?.flatMap(({ name, served }) => (served ? [name] : [])).join());
  assert.deepEqual(new Set(await served()), new Set(["v1,v1beta1"]));
  const { code, text } = await migrate("--to-phase=2");
  assert.equal(code, 0, text);
  assert.deepEqual(new Set(await served()), new Set(["v1"]));
});

test("a client that still writes v1beta1 beside v1 keeps it served, and is named with what it wrote last", async (t) => {
  const { client, migrate, crds } = await clusterIn(t, 1);
  assert.equal((await migrate("--to-phase=2", "--serve-v1beta1")).code, 0);
  for (const name of ["first", "second"])
    await client.create(
      "VolumeSnapshot",
      draftOf(
        "VolumeSnapshot",
        { namespace: "default", name },
        { spec: { source: { persistentVolumeClaimName: "a" } } },
      ),
    );
  const before = await crds();
  const path = "/apis/snapshot.storage.k8s.io/v1beta1/namespaces/default/volumesnapshots/second";
  const old = {
    apiVersion: "snapshot.storage.k8s.io/v1beta1",
    kind: "VolumeSnapshot",
    metadata: { name: "second", labels: { old: "yes" } },
  };
  await client.applyPath(path, old, { fieldManager: "old-client" });
  const { code, text } = await migrate("--to-phase=2");
  assert.equal(code, 1, text);
  assert.match(
    text,
    /^old-client wrote VolumeSnapshot default\/second in v1beta1 at \S+, although v1 is served; .*\[SNAP-604\]$/m,
  );
  assert.deepEqual(await crds(), before);
  const patient = await migrate("--to-phase=2", "--old-client-window=0s");
  assert.equal(patient.code, 0, patient.text);
});

const crdWrite = (method: string, path: string): boolean =>
  (method === "PUT" || method === "PATCH" || method === "POST") && path.includes("customresourcedefinitions");

test("a run that is stopped at any of its writes is resumed", async (t) => {
  let writes = 0;
  let stopAt = Number.POSITIVE_INFINITY;
  const cluster = await clusterIn(t, 2, {
    beforeRequest: async ({ method, path }) => {
      if (!crdWrite(method, path)) return;
      writes += 1;
      if (writes === stopAt) throw new Error("the connection breaks");
    },
  });
  await withSnapshots(cluster, 2);
  let runs = 0;
  for (let code = 1; code !== 0 && runs < 40; runs += 1) {
    stopAt = writes + 6;
    code = (await cluster.migrate("--to-phase=3")).code;
  }
  assert.ok(runs > 2 && runs < 40, `${runs} runs`);
  assert.deepEqual([await cluster.stored(), await cluster.phaseNow()], [["v1", "v1", "v1"], 3]);
});

test("a later run takes over, and the earlier one stops before its next write", async (t) => {
  let isHeld = true;
  let release: () => void = () => undefined;
  const held = new Promise<void>((done) => {
    release = done;
  });
  let writes = 0;
  const cluster = await clusterIn(t, 2, {
    beforeRequest: async ({ method, path }) => {
      if (!crdWrite(method, path)) return;
      writes += 1;
      if (writes === 5 && isHeld) {
        isHeld = false;
        await held;
      }
    },
  });
  await withSnapshots(cluster, 1);
  const first = cluster.migrate("--to-phase=3");
  while (isHeld) await new Promise((done) => setImmediate(done));
  const second = await cluster.migrate("--to-phase=3");
  release();
  const { code, text } = await first;
  assert.equal(second.code, 0, second.text);
  assert.equal(code, 1, text);
  assert.match(text, /another run \(\S+, since \S+, to phase 3\) has taken over; this one has stopped \[SNAP-606\]/);
  assert.deepEqual([await cluster.stored(), await cluster.phaseNow()], [["v1", "v1", "v1"], 3]);
});

test("CRDs of another tool are left alone, unless --force-conflicts is given", async (t) => {
  const { client, migrate, phaseNow } = await clusterIn(t, 1);
  for (const kind of snapshotKinds)
    await client.patch(
      { kind: "CustomResourceDefinition", name: crdNameOf(kind) },
      { type: "merge", body: { metadata: { labels: { "addonmanager.kubernetes.io/mode": "Reconcile" } } } },
    );
  const { code, text } = await migrate("--to-phase=2");
  assert.equal(code, 1);
  assert.match(text, /belongs to the addon manager of the cluster .*\[SNAP-602\]/);
  assert.equal(await phaseNow(), 1);
  assert.equal((await migrate("--to-phase=2", "--force-conflicts")).code, 0);
  assert.equal(await phaseNow(), 2);
});

for (const [argv, says] of [
  [[], /give --to-phase=N, --rollback, both of them, or --status/],
  [["--status", "--to-phase=2"], /give --to-phase=N/],
  [["--rollback", "--to-phase=3"], /--rollback goes to phase 1 or 2/],
  [["--to-phase=3", "--serve-v1beta1"], /--serve-v1beta1 works only on the way to phase 2/],
] as const)
  test(`migrate ${argv.join(" ")} is refused before anything is read`, async (t) => {
    const { start } = await clusterIn(t, 1);
    const { code, said } = start("migrate", ...argv);
    assert.equal(await code, 2, said());
    assert.match(said(), says);
  });
