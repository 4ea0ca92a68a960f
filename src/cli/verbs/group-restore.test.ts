/** `snapkeep restore vgs/NAME` as a person runs it, on the cluster of `snapkeep up`. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { aClaim, aSnapshot } from "../../../test/builders.ts";
import { startCommand } from "../../../test/command-line.ts";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { aGroup } from "../../../test/group-builders.ts";
import { draftOf } from "../../api/builders.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { startStack } from "../up/stack.ts";
import { claimNameFor, groupRefusal, planGroupRestore } from "./group-draft.ts";

const namespace = "default";

test("a group is restored whole, or not at all", async (t) => {
  const folder = temporaryFolder(t);
  const stopping = new AbortController();
  const { signal } = stopping;
  const root = join(folder, "root");
  const stack = await startStack({ world: realWorld, log: silent, version: "1.2.3", port: 0, root, signal });
  t.after(() => {
    stopping.abort();
    return stack.stopped;
  });
  const { client, driver } = stack;
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, stack.api.kubeconfig);
  const run = async (...argv: readonly string[]) => {
    const { said, code } = startCommand(...argv, `--kubeconfig=${kubeconfig}`);
    return { code: await code, ...said };
  };
  const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const fileOf = async (claim: string): Promise<string> => {
    const { spec } = await client.get(claimRef(claim));
    return join(driver.storage.dataOf(driver.storage.volumes.get(spec?.volumeName ?? "") ?? assert.fail()), "file");
  };
  const labels = { app: "db" };
  for (const name of ["data", "log"]) {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } };
    await client.create(
      "PersistentVolumeClaim",
      draftOf("PersistentVolumeClaim", { namespace, name, labels }, { spec }),
    );
    await eventually(`${name} is bound`, async () => (await client.get(claimRef(name))).status?.phase === "Bound");
    await writeFile(await fileOf(name), `words of ${name}`);
  }
  const group = { kind: "VolumeGroupSnapshot", namespace, name: "monday" } as const;
  const spec = { source: { selector: { matchLabels: labels } } };
  await client.create("VolumeGroupSnapshot", draftOf("VolumeGroupSnapshot", { namespace, name: "monday" }, { spec }));
  await eventually("the group is ready", async () => (await client.get(group)).status?.readyToUse === true);
  const claims = async () => (await client.list("PersistentVolumeClaim")).objects.map(({ metadata }) => metadata.name);

  const dry = await run("restore", "vgs/monday", "--dry-run=client", "-o", "json");
  assert.equal(dry.code, 0, dry.text);
  assert.equal((JSON.parse(dry.out) as { items: unknown[] }).items.length, 2);
  assert.deepEqual((await claims()).sort(), ["data", "log"]);

  // The second claim is in the way: the first one is deleted again.
  const both = (await client.list("VolumeSnapshot", { namespace })).objects;
  const last = both.at(-1)?.spec.source.persistentVolumeClaimName ?? "";
  const blocking = `${last}-monday`;
  const idle = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "none",
    resources: { requests: { storage: "1Mi" } },
  };
  await client.create(
    "PersistentVolumeClaim",
    draftOf("PersistentVolumeClaim", { namespace, name: blocking }, { spec: idle }),
  );
  const half = await run("restore", "vgs/monday");
  assert.notEqual(half.code, 0);
  assert.match(half.text, /already exists/);
  await eventually("no half group is left", async () => (await claims()).length === 3);
  await client.delete(claimRef(blocking));

  const whole = await run("restore", "vgs/monday", "--wait");
  assert.equal(whole.code, 0, whole.text);
  assert.match(whole.out, /persistentvolumeclaim\/data-monday created/);
  assert.match(whole.out, /persistentvolumeclaim\/log-monday bound to volume/);
  for (const name of ["data", "log"]) {
    assert.equal(await readFile(await fileOf(`${name}-monday`), "utf8"), `words of ${name}`);
    assert.deepEqual((await client.get(claimRef(`${name}-monday`))).metadata.labels, labels);
  }
});

const member = (name: string) =>
  aSnapshot({ metadata: { name }, spec: { source: { persistentVolumeClaimName: "data" } } });

test("the name of a claim is made from its member", () => {
  assert.equal(claimNameFor("{claim}-{group}", "monday", member("snapshot-1")), "data-monday");
  assert.equal(claimNameFor("x-{snapshot}-{other}", "monday", member("snapshot-1")), "x-snapshot-1-{other}");
});

test("what stands in the way of a group is said plainly", () => {
  const ready = { status: { readyToUse: true } };
  const rows = [
    [
      aGroup({ status: { readyToUse: false, error: { message: "no space [SNAP-501]" } } }),
      [member("a")],
      /is not ready: no space/,
    ],
    [aGroup({ ...ready, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }), [member("a")], /is being deleted/],
    [aGroup(ready), [], /has no members/],
  ] as const;
  for (const [group, members, expected] of rows)
    assert.match(groupRefusal(group, members)?.refused ?? "", new RegExp(`${expected.source}.*\\[SNAP-879\\]`));
  assert.equal(groupRefusal(aGroup(ready), [member("a")]), undefined);
});

test("two members whose claims would have one name are refused", () => {
  const wishes = {
    from: { namespace: "team", name: "a" },
    to: { namespace: "team", name: "same" },
    storageClass: "",
    size: "",
    accessModes: [],
  };
  const read = { snapshot: member("a"), content: undefined, source: aClaim(), storageClasses: [], grants: [] };
  const decision = planGroupRestore(aGroup(), [
    { wishes, read },
    { wishes, read },
  ]);
  assert.match("refused" in decision ? decision.refused : "", /would be named same/);
});
