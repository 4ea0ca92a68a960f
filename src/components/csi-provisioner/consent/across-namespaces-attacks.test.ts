/** What an attacker may try to get the data of another namespace: each attempt is denied, with the same event. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Across,
  type AcrossStage,
  allSnapshots,
  assertDenied,
  byLink,
  claimsOf,
  denial,
  goodGrant,
  guest,
  linksOf,
  monday,
  owner,
  ref,
  setUpAcross,
  snapshotGroup,
} from "../../../../test/across-namespaces.ts";
import { draftOf } from "../../../api/builders.ts";

type Referrers = typeof claimsOf | typeof linksOf;
const wrongGrants = (allowed: Referrers, others: Referrers): Readonly<Record<string, object | undefined>> => {
  const good = { from: [allowed(guest)], to: [monday] };
  return {
    "no grant": undefined,
    "another group to refer": { ...good, from: [{ ...allowed(guest), group: "apps" }] },
    "another kind to refer": { ...good, from: [{ ...allowed(guest), kind: "Pod" }] },
    "the resource instead of the kind": {
      ...good,
      from: [{ ...allowed(guest), kind: `${allowed(guest).kind.toLowerCase()}s` }],
    },
    "another namespace to refer": { ...good, from: [allowed("far")] },
    "a star for the namespace": { ...good, from: [allowed("*")] },
    "another group to refer to": { ...good, to: [{ ...monday, group: "apps" }] },
    "another kind to refer to": { ...good, to: [{ ...monday, kind: "VolumeSnapshotContent" }] },
    "another snapshot": { ...good, to: [{ ...monday, name: "tuesday" }] },
    "a prefix of the name": { ...good, to: [{ ...monday, name: "mon" }] },
    "the name in capitals": { ...good, to: [{ ...monday, name: "Monday" }] },
    "a name with the namespace": { ...good, to: [{ ...monday, name: "prod/monday" }] },
    "the other kind of referrer": { ...good, from: [others(guest)] },
  };
};
const ways = [
  { by: "itself", source: ref(), grants: wrongGrants(claimsOf, linksOf) },
  { by: "by a link", source: byLink("bridge"), grants: wrongGrants(linksOf, claimsOf) },
];
for (const { by, source, grants } of ways)
  for (const [given, spec] of Object.entries(grants))
    test(`given ${given} in a grant, a claim that names the snapshot ${by} gets nothing`, async () => {
      const stage = await setUpAcross();
      await stage.snapshot("monday", "s-1");
      if (spec !== undefined) await stage.grant("wrong", spec);
      await stage.link("bridge", { name: "monday", namespace: owner });
      await stage.start();
      await stage.claim("copy", source);
      await assertDenied(stage);
      await stage.end();
    });

const rules: readonly [given: string, snapshot: object, claim: object, code: RegExp][] = [
  ["another driver", { driver: "other" }, {}, /SNAP-306/],
  ["another volume mode", { sourceVolumeMode: "Filesystem" }, { volumeMode: "Block" }, /SNAP-309/],
  ["a snapshot that is not ready", { ready: false }, {}, /SNAP-307/],
];
for (const [given, snapshot, claim, code] of rules)
  test(`with a grant, the rules of every restore hold: ${given}`, async () => {
    const stage = await setUpAcross();
    await stage.snapshot("monday", "s-1", snapshot);
    await stage.grant("lend");
    await stage.start();
    await stage.claim("copy", { ...ref(), ...claim });
    await stage.world.advance(20_000);
    assert.deepEqual(stage.created, []);
    assert.match((await stage.said("copy")).join("\n"), code);
    await stage.end();
  });

for (const [given, group] of [
  ["a group with a version", `${snapshotGroup}/v1`],
  ["an empty namespace", undefined],
] as const)
  test(`a grant with ${given} is refused by the CRD`, async () => {
    const stage = await setUpAcross();
    const spec = group === undefined ? { from: [claimsOf("")] } : { to: [{ ...monday, group }] };
    await assert.rejects(stage.grant("wrong", { ...goodGrant, ...spec }), /is invalid/);
    await stage.end();
  });

test("given a grant in the namespace of the claim, nothing is restored", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.grant("mine", goodGrant, guest);
  await stage.start();
  await stage.claim("copy", ref());
  await assertDenied(stage);
  await stage.end();
});

test("given the two sides in two grants, nothing is restored", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.grant("one", { from: [claimsOf(guest)], to: [{ ...monday, name: "tuesday" }] });
  await stage.grant("two", { from: [claimsOf("far")], to: [monday] });
  await stage.start();
  await stage.claim("copy", ref());
  await assertDenied(stage);
  await stage.end();
});

test("given the claim's own namespace written out and no grant, nothing is restored", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.start();
  await stage.claim("copy", ref(), owner);
  await assertDenied(stage, "copy", owner);
  await stage.end();
});

test("a grant from claims does not serve links, and a grant from links serves them", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.grant("claims");
  await stage.start();
  await stage.link("abroad", { name: "monday", namespace: owner });
  await stage.claim("copy", byLink("abroad"));
  await assertDenied(stage);
  await stage.grant("links", { from: [linksOf(guest)], to: [allSnapshots] });
  await stage.world.advance(1_000);
  assert.deepEqual(stage.created, ["s-1"]);
  await stage.end();
});

test("the event is the same for no grant, no such snapshot, one that is not ready, and one of another driver", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.snapshot("unready", "s-2", { ready: false });
  await stage.snapshot("foreign", "s-3", { driver: "other" });
  await stage.start();
  const names = ["monday", "missing", "unready", "foreign"];
  for (const name of names) await stage.claim(name, ref(name));
  await stage.world.advance(30_000);
  const said = await Promise.all(
    names.map(async (name) => (await stage.said(name)).map((text) => text.replaceAll(name, "X"))),
  );
  assert.match((await stage.said("monday"))[0] ?? "", denial);
  assert.deepEqual(new Set(said.map((texts) => texts.join("\n"))).size, 1, said.join("\n"));
  assert.ok(
    !stage.steps.some((step) => step.startsWith("GET volumesnapshot")),
    "nothing of the other namespace is read",
  );
  await stage.end();
});

test("what is wrong with a snapshot is told while there is a grant, and not after it was revoked behind the cache", async () => {
  const told = await setUpAcross();
  await told.snapshot("monday", "s-1", { driver: "other" });
  await told.grant("lend");
  await told.start();
  await told.claim("copy", ref());
  await told.world.advance(5_000);
  assert.match((await told.said("copy")).join("\n"), /belongs to driver other/);
  await told.end();
  let stage: AcrossStage | undefined;
  const silentAfter: Across = {
    before: async (step) => {
      if (step === "GET volumesnapshotcontents") await stage?.revoke("lend").catch(() => undefined);
    },
  };
  stage = await setUpAcross(silentAfter);
  await stage.snapshot("monday", "s-1", { driver: "other" });
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", ref());
  await assertDenied(stage);
  await stage.end();
});

test("with a grant, a snapshot whose content points at another snapshot is refused all the same", async () => {
  const stage = await setUpAcross();
  const stolen = await stage.snapshot("stolen", "s-1");
  const { api, world } = stage;
  await stage.snapshot("target", "s-2");
  const target = await world.run(api.get({ kind: "VolumeSnapshot", namespace: owner, name: "target" }));
  const status = { ...target.status, boundVolumeSnapshotContentName: `content-${stolen.metadata.uid}` };
  await world.run(api.replace("VolumeSnapshot", { ...target, status }, { subresource: "status" }));
  await stage.grant("lend", { ...goodGrant, to: [allSnapshots] });
  await stage.start();
  await stage.claim("copy", ref("target"));
  await world.advance(20_000);
  assert.deepEqual(stage.created, []);
  assert.match((await stage.said("copy")).join("\n"), /SNAP-305/);
  await stage.end();
});

test("secrets that a class names by the claim's namespace are those of the claim's namespace", async () => {
  const stage = await setUpAcross();
  const { api, world } = stage;
  for (const namespace of [owner, guest]) {
    const data = { of: Buffer.from(namespace).toString("base64") };
    await world.run(api.create("Secret", draftOf("Secret", { namespace, name: "keys" }, { data } as never)));
  }
  const parameters = {
    "csi.storage.k8s.io/provisioner-secret-name": "keys",
    "csi.storage.k8s.io/provisioner-secret-namespace": "$" + "{pvc.namespace}",
  };
  const draft = draftOf("StorageClass", { name: "secret" }, { provisioner: "disk.example.com", parameters } as never);
  await world.run(api.create("StorageClass", draft));
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", { ...ref(), storageClassName: "secret" });
  await world.advance(2_000);
  assert.deepEqual([stage.created, stage.secretsSeen], [["s-1"], { of: guest }]);
  await stage.end();
});

test("a snapshot of the same name that came after the one that was looked at is not restored by its handle", async () => {
  let stage: AcrossStage | undefined;
  let isSwapped = false;
  stage = await setUpAcross({
    before: async (step) => {
      if (step !== "GET volumesnapshots" || isSwapped || stage === undefined) return;
      isSwapped = true;
      // The owner takes the snapshot back, and lends another one of the same name by another grant of the same name.
      await stage.revoke("lend");
      const taken = await stage.api.get({ kind: "VolumeSnapshot", namespace: owner, name: "monday" });
      await stage.api.replace("VolumeSnapshot", { ...taken, metadata: { ...taken.metadata, finalizers: [] } });
      await stage.api.delete({ kind: "VolumeSnapshot", namespace: owner, name: "monday" });
      await stage.api.create("VolumeSnapshot", {
        ...taken,
        metadata: { namespace: owner, name: "monday" },
      } as never);
      await stage.api.create("ReferenceGrant", {
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "ReferenceGrant",
        metadata: { namespace: owner, name: "lend" },
        spec: goodGrant,
      } as never);
    },
  });
  await stage.snapshot("monday", "secret");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", ref());
  await stage.world.advance(60_000);
  assert.ok(isSwapped);
  assert.deepEqual(stage.created, []);
  await stage.end();
});

test("a clone of a claim in another namespace: a volume swapped behind the cache is not handed out", async () => {
  let stage: AcrossStage | undefined;
  let isSwapped = false;
  stage = await setUpAcross({
    before: async (step) => {
      if (step !== "GET persistentvolumes" || isSwapped || stage === undefined) return;
      isSwapped = true;
      const volume = await stage.api.get({ kind: "PersistentVolume", name: "pv-data" });
      await stage.api.replace("PersistentVolume", {
        ...volume,
        spec: { ...volume.spec, claimRef: { ...volume.spec?.claimRef, uid: "another" } },
      });
    },
  });
  const data = await stage.claim("data", { volumeName: "pv-data" }, owner);
  await stage.world.run(
    stage.api.create("PersistentVolume", {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "pv-data" },
      spec: {
        capacity: { storage: "1Mi" },
        accessModes: ["ReadWriteOnce"],
        csi: { driver: "disk.example.com", volumeHandle: "v-data" },
        claimRef: { namespace: owner, name: "data", uid: data.metadata.uid },
      },
    } as never),
  );
  for (const [kind, ref] of [
    ["PersistentVolumeClaim", { namespace: owner, name: "data" }],
    ["PersistentVolume", { name: "pv-data" }],
  ] as const) {
    const object = await stage.world.run(stage.api.get({ kind, ...ref }));
    await stage.world.run(
      stage.api.replace(kind, { ...object, status: { ...object.status, phase: "Bound" } } as never, {
        subresource: "status",
      }),
    );
  }
  await stage.grant("claims", { from: [claimsOf(guest)], to: [{ group: "", kind: "PersistentVolumeClaim" }] });
  await stage.start();
  await stage.claim("copy", { dataSourceRef: { kind: "PersistentVolumeClaim", name: "data", namespace: owner } });
  await stage.world.advance(5_000);
  assert.ok(isSwapped);
  assert.deepEqual(stage.created, []);
  await stage.end();
});
