/** Grants and links that cannot be read, for whatever reason: only claims that need them wait, and they are served as soon as they can be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  allSnapshots,
  assertDenied,
  byLink,
  guest,
  jsonAnswer,
  linksOf,
  owner,
  ref,
  setUpAcross,
} from "../../../../test/across-namespaces.ts";
import type { HttpRequest } from "../../../base/http.ts";

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

/** A claim that waits is looked at every 5 s, and so is the kind that it waits for. */
const promptMs = 11_000;

test("without the CRD of links a claim that names one waits, and is served soon after the CRD and the link are there", async () => {
  const { snapshotCrds } = await import("../../../api/crds/index.ts");
  const { crossNamespaceCrds } = await import("../../../api/crds/cross-namespace.ts");
  const { referenceGrantCrd } = await import("../../../api/crds/reference-grant.ts");
  const stage = await setUpAcross({ server: { definitions: [...snapshotCrds(3), referenceGrantCrd()] } });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend", { from: [linksOf(guest)], to: [allSnapshots] });
  await stage.start();
  await stage.claim("copy", byLink("abroad"));
  await stage.world.advance(200_000);
  assert.match((await stage.said("copy")).join("\n"), /cannot be read: install the CRD.*\[SNAP-364\]/);
  for (const crd of crossNamespaceCrds()) await stage.world.run(stage.api.create("CustomResourceDefinition", crd));
  await stage.world.advance(1_000);
  await stage.link("abroad", { name: "monday", namespace: owner });
  await stage.world.advance(promptMs);
  assert.deepEqual(stage.created, ["s-1"]);
  await stage.end();
});

test("a claim that names a link with its namespace says so, wherever the link is, and is not filled", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend", { from: [linksOf(guest)], to: [allSnapshots] });
  await stage.start();
  await stage.link("abroad", { name: "monday", namespace: owner });
  const { dataSourceRef } = byLink("abroad");
  for (const namespace of [owner, guest]) {
    await stage.claim(`copy-${namespace}`, { dataSourceRef: { ...dataSourceRef, namespace } });
    await stage.world.advance(60_000);
    assert.match(
      (await stage.said(`copy-${namespace}`)).join("\n"),
      /is named with its namespace.*leave spec.dataSourceRef.namespace out in a new claim.*\[SNAP-365\]/,
    );
  }
  assert.deepEqual(stage.created, []);
  await stage.end();
});

test("a link to a snapshot that does not exist is blamed on the link", async () => {
  const stage = await setUpAcross();
  await stage.grant("lend", { from: [linksOf(guest)], to: [allSnapshots] });
  await stage.start();
  await stage.link("abroad", { name: "monday", namespace: owner });
  await stage.claim("copy", byLink("abroad"));
  await stage.world.advance(10_000);
  assert.match(
    (await stage.said("copy")).join("\n"),
    /monday, which VolumeSnapshotLink abroad names, does not exist: create it, or correct spec.source in a new link \[SNAP-301\]/,
  );
  await stage.end();
});

test("without the CRD of grants only claims with a namespace wait, and they are served soon after it is there", async () => {
  const { snapshotCrds } = await import("../../../api/crds/index.ts");
  const { referenceGrantCrd } = await import("../../../api/crds/reference-grant.ts");
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
  await stage.world.advance(promptMs);
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
  await stage.world.advance(promptMs);
  assert.deepEqual(stage.created, ["", "s-1"]);
  await stage.end();
});
