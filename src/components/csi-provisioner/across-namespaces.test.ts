/** Restores from other namespaces, whole: what an attacker may try, and a grant that is revoked at any moment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Across,
  type AcrossStage,
  allSnapshots,
  claimsOf,
  goodGrant,
  guest,
  jsonAnswer,
  linksOf,
  lostReply,
  monday,
  owner,
  setUpAcross,
  snapshotGroup,
} from "../../../test/across-namespaces.ts";
import { draftOf } from "../../api/builders.ts";
import { standardParts } from "../../apiserver/parts.ts";
import { Fault } from "../../base/fault.ts";
import type { HttpRequest } from "../../base/http.ts";

const ref = (name = "monday", namespace = owner) => ({
  dataSourceRef: { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name, namespace },
});
const byLink = (name: string) => ({ dataSourceRef: { apiGroup: snapshotGroup, kind: "VolumeSnapshotLink", name } });
const denial = /^no ReferenceGrant in namespace prod lets .* use VolumeSnapshot prod\/\w+: .*\[SNAP-361\]$/;

async function assertDenied(stage: AcrossStage, claim = "copy", namespace = guest): Promise<void> {
  await stage.world.advance(30_000);
  assert.deepEqual(stage.created, [], "nothing is created, and nothing empty either");
  assert.deepEqual(await stage.published(), []);
  const said = await stage.said(claim, namespace);
  assert.ok(said.length > 0 && said.every((message) => /SNAP-(361|336|362)/.test(message)), said.join("\n"));
}

const wrongGrants: Readonly<Record<string, object | undefined>> = {
  "no grant": undefined,
  "another group to refer": { ...goodGrant, from: [{ ...claimsOf(guest), group: "apps" }] },
  "another kind to refer": { ...goodGrant, from: [{ ...claimsOf(guest), kind: "Pod" }] },
  "the resource instead of the kind": { ...goodGrant, from: [{ ...claimsOf(guest), kind: "persistentvolumeclaims" }] },
  "another namespace to refer": { ...goodGrant, from: [claimsOf("far")] },
  "a star for the namespace": { ...goodGrant, from: [claimsOf("*")] },
  "another group to refer to": { ...goodGrant, to: [{ ...monday, group: "apps" }] },
  "another kind to refer to": { ...goodGrant, to: [{ ...monday, kind: "VolumeSnapshotContent" }] },
  "another snapshot": { ...goodGrant, to: [{ ...monday, name: "tuesday" }] },
  "a prefix of the name": { ...goodGrant, to: [{ ...monday, name: "mon" }] },
  "the name in capitals": { ...goodGrant, to: [{ ...monday, name: "Monday" }] },
  "a name with the namespace": { ...goodGrant, to: [{ ...monday, name: "prod/monday" }] },
  links: { ...goodGrant, from: [linksOf(guest)] },
};
for (const [given, spec] of Object.entries(wrongGrants))
  test(`given ${given} in a grant, nothing is restored`, async () => {
    const stage = await setUpAcross();
    await stage.snapshot("monday", "s-1");
    if (spec !== undefined) await stage.grant("wrong", spec);
    await stage.start();
    await stage.claim("copy", ref());
    await assertDenied(stage);
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

test("the feature off: a claim with a namespace waits, and is served when the feature is on again", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  const on = await stage.start();
  await stage.claim("first", ref());
  await stage.world.advance(2_000);
  assert.equal((await stage.published()).length, 1);
  await on.stop();
  const off = await stage.start({ crossNamespace: false, crossNamespaceSnapshot: false });
  await stage.claim("second", ref());
  await stage.world.advance(30_000);
  assert.match((await stage.said("second")).join("\n"), /feature gate CrossNamespaceVolumeDataSource.*\[SNAP-336\]/);
  assert.equal((await stage.published()).length, 1, "what is in use stays");
  await off.stop();
  await stage.start();
  await stage.world.advance(2_000);
  assert.equal((await stage.published()).length, 2);
  assert.deepEqual(stage.created, ["s-1", "s-1"]);
  await stage.end();
});

test("without --cross-namespace-snapshot a claim that names a link is left alone", async () => {
  const stage = await setUpAcross({ options: { crossNamespaceSnapshot: false } });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend", { from: [linksOf(guest)], to: [allSnapshots] });
  await stage.start();
  await stage.link("abroad", { name: "monday", namespace: owner });
  await stage.claim("copy", byLink("abroad"));
  await stage.world.advance(60_000);
  assert.deepEqual([stage.created, await stage.said("copy")], [[], []]);
  await stage.end();
});

test("a missing link, and links that cannot be read, are told; the claim is served when the link comes", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend", { from: [linksOf(guest)], to: [allSnapshots] });
  await stage.start();
  await stage.claim("copy", byLink("abroad"));
  await stage.world.advance(1_000);
  assert.match((await stage.said("copy")).join("\n"), /VolumeSnapshotLink test\/abroad does not exist.*\[SNAP-363\]/);
  await stage.link("abroad", { name: "monday", namespace: owner });
  await stage.world.advance(1_000);
  assert.deepEqual(stage.created, ["s-1"]);
  await stage.end();
});

test("without the CRD of grants only claims with a namespace wait, and they are served soon after it is there", async () => {
  const { snapshotCrds } = await import("../../api/crds/index.ts");
  const { referenceGrantCrd } = await import("../../api/crds/reference-grant.ts");
  const stage = await setUpAcross({ server: { definitions: snapshotCrds(3) } });
  await stage.snapshot("monday", "s-1");
  await stage.start();
  await stage.claim("plain", {});
  await stage.claim("copy", ref());
  await stage.claim("linked", byLink("abroad"));
  await stage.world.advance(20_000);
  assert.deepEqual(stage.created, [""], "the plain claim");
  assert.match((await stage.said("copy")).join("\n"), /cannot read ReferenceGrants: install their CRD.*\[SNAP-362\]/);
  assert.match((await stage.said("linked")).join("\n"), /cannot be read: install the CRD.*\[SNAP-364\]/);
  await stage.world.run(stage.api.create("CustomResourceDefinition", referenceGrantCrd()));
  await stage.world.advance(1_000);
  await stage.grant("lend");
  await stage.world.advance(61_000);
  assert.deepEqual(stage.created, ["", "s-1"]);
  await stage.end();
});

for (const [given, status] of [
  ["an error of the server", 500],
  ["a conflict", 409],
  ["a refusal", 403],
] as const)
  test(`given ${given} when the grant is read, nothing is created, and the restore starts when it can be read`, async () => {
    let isBroken = true;
    const stage = await setUpAcross({
      before: (step) =>
        step === "GET referencegrants" && isBroken
          ? Promise.resolve({
              status,
              headers: { "content-type": "application/json" },
              body: JSON.stringify({
                kind: "Status",
                apiVersion: "v1",
                status: "Failure",
                code: status,
                message: "no",
              }),
            })
          : undefined,
    });
    await stage.snapshot("monday", "s-1");
    await stage.grant("lend");
    await stage.start();
    await stage.claim("copy", ref());
    await assertDenied(stage);
    isBroken = false;
    await stage.world.advance(120_000);
    assert.deepEqual(stage.created, ["s-1"]);
    await stage.end();
  });

const isListOfGrants = ({ method, path }: HttpRequest): boolean => method === "GET" && /\/referencegrants\?/.test(path);
for (const status of [500, 409])
  test(`while the list of grants answers ${status}, claims with a namespace wait and others are served`, async () => {
    let isBroken = true;
    const failure = { kind: "Status", apiVersion: "v1", status: "Failure", code: status, message: "no" };
    const stage = await setUpAcross({
      answer: (request) => (isBroken && isListOfGrants(request) ? jsonAnswer(status, failure) : undefined),
    });
    await stage.snapshot("monday", "s-1");
    await stage.grant("lend");
    await stage.start();
    await stage.claim("plain", {});
    await stage.claim("copy", ref());
    await stage.world.advance(30_000);
    assert.deepEqual(stage.created, [""], "the plain claim");
    assert.match((await stage.said("copy")).join("\n"), /SNAP-362/);
    isBroken = false;
    await stage.world.advance(61_000);
    assert.deepEqual(stage.created, ["", "s-1"]);
    await stage.end();
  });

test("without the right to read grants only claims with a namespace wait, and they are served soon after it is given", async () => {
  let isAllowed = false;
  const stage = await setUpAcross({
    answer: ({ path, body }) =>
      !isAllowed && path.endsWith("/selfsubjectaccessreviews") && String(body).includes("referencegrants")
        ? jsonAnswer(201, { kind: "SelfSubjectAccessReview", status: { allowed: false } })
        : undefined,
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("plain", {});
  await stage.claim("copy", ref());
  await stage.world.advance(20_000);
  assert.deepEqual(stage.created, [""], "the plain claim");
  assert.match((await stage.said("copy")).join("\n"), /let its role get, list and watch referencegrants.*\[SNAP-362\]/);
  isAllowed = true;
  await stage.world.advance(61_000);
  assert.deepEqual(stage.created, ["", "s-1"]);
  await stage.end();
});

test("a grant that is revoked while the watch of grants is cut off is not used", async () => {
  let isCut = false;
  const stage = await setUpAcross({
    answer: ({ path }) =>
      isCut && /\/referencegrants\?/.test(path) ? jsonAnswer(500, { kind: "Status", code: 500 }) : undefined,
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.world.advance(1_000);
  isCut = true;
  // The watch that is open ends within ten minutes, and a new one is refused.
  await stage.world.advance(600_000);
  await stage.world.run(stage.revoke("lend"));
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

/** Each moment at which the grant may be revoked: before every request of the provisioner, and before every call to the driver. */
async function revokedAt(index: number, more: Pick<Across, "afterCreate"> = {}) {
  let stage: AcrossStage | undefined;
  let revokedBefore: string | undefined;
  stage = await setUpAcross({
    ...more,
    before: async (step, at) => {
      if (at !== index) return;
      revokedBefore = step;
      await stage?.revoke("lend");
    },
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", ref());
  await stage.world.advance(300_000);
  const outcome = {
    revokedBefore,
    steps: [...stage.steps],
    volumes: [...stage.volumes.values()],
    published: (await stage.published()).length,
    said: await stage.said("copy"),
  };
  await stage.end();
  return outcome;
}

test("a grant that is revoked at any moment before it is read stops the restore, and later ones do not", async () => {
  const moments: string[] = [];
  for (let index = 0; ; index += 1) {
    const { revokedBefore, steps, volumes, published } = await revokedAt(index);
    if (revokedBefore === undefined) break;
    moments.push(revokedBefore);
    const readAt = steps.indexOf("GET referencegrants");
    const isTooLate = readAt !== -1 && readAt < index;
    assert.deepEqual([volumes.length, published], isTooLate ? [1, 1] : [0, 0], `revoked before ${index}: ${steps}`);
    if (!isTooLate) assert.ok(!steps.includes("CreateVolume"), `revoked before ${index}: ${steps}`);
  }
  assert.deepEqual(moments.slice(0, 7), [
    "GET leases",
    "GET volumesnapshotcontents",
    "PUT volumesnapshots",
    "POST leases",
    "GET volumesnapshots",
    "GET referencegrants",
    "CreateVolume",
  ]);
});

test("a volume of unknown outcome is published with a grant, and deleted without one, whenever it was revoked", async () => {
  let outcomes = 0;
  for (let index = 0; ; index += 1) {
    const { revokedBefore, steps, volumes, published } = await revokedAt(index, {
      afterCreate: (count) => (count <= 2 ? lostReply() : undefined),
    });
    if (revokedBefore === undefined) break;
    outcomes += 1;
    assert.equal(volumes.length, published, `revoked before step ${index}: ${steps}`);
    const lastRead = steps.lastIndexOf("GET referencegrants");
    if (published === 0 && steps.includes("CreateVolume"))
      assert.ok(steps.includes("DeleteVolume"), `revoked before step ${index}: ${steps}`);
    if (published === 1) assert.ok(lastRead < index, `published though it was revoked before ${index}: ${steps}`);
  }
  assert.ok(outcomes > 10, `${outcomes} moments`);
});

test("attempts, denials and successes are counted by class and by what names the source", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  const { metrics } = await stage.start();
  await stage.claim("copy", ref());
  await stage.link("abroad", { name: "monday", namespace: owner });
  await stage.claim("linked", byLink("abroad"));
  await stage.world.advance(2_000);
  await stage.grant("claims");
  await stage.grant("links", { from: [linksOf(guest)], to: [monday] });
  await stage.world.advance(2_000);
  const text = await metrics();
  for (const source of ["ref", "link"]) {
    assert.match(
      text,
      new RegExp(`cross_namespace_persistentvolumeclaim_provision_total\\{class="fast",source="${source}"\\} 1`),
    );
    assert.match(
      text,
      new RegExp(`cross_namespace_persistentvolumeclaim_provision_failed_total\\{class="fast",source="${source}"\\} 1`),
    );
  }
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

for (const [rules, field] of [
  ["documents", "dataSourceRef2"],
  ["documents-exclusive", "crossNamespaceDataSourceRef"],
] as const)
  test(`a claim that names its source in ${field} waits for a grant, and is restored with it`, async () => {
    const featureGates = { AnyVolumeDataSource: true, CrossNamespaceVolumeDataSource: true };
    const stage = await setUpAcross({ server: { parts: standardParts(rules), featureGates } });
    await stage.snapshot("monday", "s-1");
    await stage.start();
    await stage.claim("copy", { [field]: ref().dataSourceRef });
    await assertDenied(stage);
    await stage.grant("lend");
    await stage.world.advance(1_000);
    assert.deepEqual(stage.created, ["s-1"]);
    await stage.end();
  });

test("links are registered once: another VolumePopulator for them is enough, whatever its name", async () => {
  const stage = await setUpAcross();
  const sourceKind = { group: snapshotGroup, kind: "VolumeSnapshotLink" };
  const draft = draftOf("VolumePopulator", { name: "of-another-driver" }, { sourceKind } as never);
  await stage.world.run(stage.api.create("VolumePopulator", draft));
  const first = await stage.start();
  await stage.world.advance(61_000);
  const names = async () =>
    (await stage.world.run(stage.api.list("VolumePopulator"))).objects.map(({ metadata }) => metadata.name);
  assert.deepEqual(await names(), ["of-another-driver"]);
  await first.stop();
  await stage.world.run(stage.api.delete({ kind: "VolumePopulator", name: "of-another-driver" }));
  const second = await stage.start();
  await stage.world.advance(1_000);
  assert.deepEqual(await names(), ["volumesnapshotlink"]);
  await second.stop();
  assert.deepEqual(await names(), ["volumesnapshotlink"], "it outlives the provisioner");
  await stage.end();
});

test("an error of the driver is told to who has a grant, and is repeated with it", async () => {
  const stage = await setUpAcross({
    afterCreate: (count) => {
      if (count === 1) throw new Fault("Internal", "not yet");
    },
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", ref());
  await stage.world.advance(30_000);
  assert.deepEqual(stage.created, ["s-1", "s-1"]);
  assert.equal((await stage.published()).length, 1);
  await stage.end();
});
