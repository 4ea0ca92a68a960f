import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parse as parseYaml } from "yaml";
import { createClaim, startHarness } from "../../../test/command-harness.ts";
import { draftOf } from "../../api/builders.ts";

type Harness = Awaited<ReturnType<typeof startHarness>>;

/** An empty name: the CRDs accept it, the rules do not. */
async function createSnapshots({ client }: Harness, claims: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, persistentVolumeClaimName] of Object.entries(claims)) {
    const spec = { source: { persistentVolumeClaimName } };
    await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace: "default", name }, { spec }));
  }
}

async function audited(t: TestContext, ...flags: readonly string[]) {
  const harness = await startHarness(t);
  await createClaim(harness.client);
  await createSnapshots(harness, { right: "data", wrong: "" });
  const { code, said } = harness.start("audit", ...flags);
  return { code: await code, said: said() };
}

test("audit prints a table of what to change, and exits with 1 if something is invalid", async (t) => {
  const { code, said } = await audited(t);
  const [head = "", row = "", totals = "", ...rest] = said.split("\n");
  assert.match(head, /^SEVERITY {2}CODE {6}OBJECT {40}WHAT TO CHANGE$/);
  assert.match(row, /^error {5}SNAP-101 {2}VolumeSnapshot default\/wrong {18}spec\.source: .*set one$/);
  assert.equal(
    totals,
    "2 VolumeSnapshots, 0 VolumeSnapshotContents, 1 VolumeSnapshotClass, 1 PersistentVolumeClaim: 1 error, 0 warnings",
  );
  assert.deepEqual([code, rest], [1, [""]]);
});

const expected = { severity: "error", code: "SNAP-101", object: "VolumeSnapshot default/wrong", field: "spec.source" };

test("audit -o json and -o yaml say the same", async (t) => {
  const [json, yaml] = [await audited(t, "-o", "json"), await audited(t, "-o", "yaml")];
  const { findings, ...totals } = JSON.parse(json.said) as { findings: Record<string, unknown>[] };
  const { message, remedy, ...finding } = findings[0] ?? {};
  assert.deepEqual(finding, expected);
  assert.match(String(message), /\[SNAP-101\]$/);
  assert.match(String(remedy), /^Set either spec\.source/);
  assert.deepEqual(totals, {
    objects: { VolumeSnapshot: 2, VolumeSnapshotContent: 0, VolumeSnapshotClass: 1, PersistentVolumeClaim: 1 },
    errors: 1,
    warnings: 0,
  });
  assert.deepEqual(parseYaml(yaml.said), JSON.parse(json.said));
});

test("audit -o sarif names the object as a logical location", async (t) => {
  const { runs } = JSON.parse((await audited(t, "-o", "sarif")).said);
  assert.equal(runs[0].tool.driver.name, "snapkeep audit");
  assert.deepEqual(
    runs[0].tool.driver.rules.map(({ id }: { id: string }) => id),
    ["SNAP-101"],
  );
  assert.equal(runs[0].results[0].locations[0].logicalLocations[0].fullyQualifiedName, expected.object);
});

test("audit of a namespace leaves others and cluster-wide objects out; without findings it exits with 0", async (t) => {
  const { code, said } = await audited(t, "--namespace=other");
  assert.deepEqual([code, said], [0, "0 VolumeSnapshots, 0 PersistentVolumeClaims: 0 errors, 0 warnings\n"]);
});

test("a report without findings is complete in every format", async (t) => {
  const empty = { findings: [], objects: { VolumeSnapshot: 0 }, errors: 0, warnings: 0 };
  const flags = ["--namespace=other", "--claims=false", "-o"] as const;
  assert.deepEqual(JSON.parse((await audited(t, ...flags, "json")).said), empty);
  assert.deepEqual(parseYaml((await audited(t, ...flags, "yaml")).said), empty);
  assert.deepEqual(JSON.parse((await audited(t, ...flags, "sarif")).said).runs[0].results, []);
});

test("audit finds claims whose source admission would refuse, and second default classes", async (t) => {
  const { client, start } = await startHarness(t);
  const spec = {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Mi" } },
    dataSourceRef: { apiGroup: "example.com", kind: "Tarball", name: "t" },
  };
  await client.create(
    "PersistentVolumeClaim",
    draftOf("PersistentVolumeClaim", { namespace: "default", name: "custom" }, { spec } as never),
  );
  for (const name of ["one", "two"]) {
    const annotations = { "snapshot.storage.kubernetes.io/is-default-class": "true" };
    const draft = draftOf("VolumeSnapshotClass", { name }, { driver: "d", deletionPolicy: "Delete" });
    await client.create("VolumeSnapshotClass", { ...draft, metadata: { ...draft.metadata, annotations } } as never);
  }
  const { code, said } = start("audit", "--any-volume-data-source=false", "-o", "json");
  assert.equal(await code, 1);
  const { findings } = JSON.parse(said()) as { findings: { code: string; object: string }[] };
  assert.deepEqual(
    // The API server has copied the source to spec.dataSource.
    [...new Set(findings.map((finding) => `${finding.code} ${finding.object}`))],
    ["SNAP-121 VolumeSnapshotClass two", "SNAP-132 PersistentVolumeClaim default/custom"],
  );
});
