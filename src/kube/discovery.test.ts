import assert from "node:assert/strict";
import { test } from "node:test";
import { ok, refusal, scripted } from "../../test/scripted-server.ts";
import { isFault } from "../base/fault.ts";
import { servedVersionOf, servedVersions } from "./discovery.ts";

test("discovery finds the versions a server has, and none for a group it does not know", async () => {
  const group = { kind: "APIGroup", versions: [{ version: "v1beta1" }, { version: "v1alpha1" }] };
  assert.deepEqual(await servedVersions(scripted([ok(group)]).client, "snapshot.storage.k8s.io"), [
    "v1beta1",
    "v1alpha1",
  ]);
  assert.deepEqual(await servedVersions(scripted([ok({ kind: "APIVersions", versions: ["v1"] })]).client, ""), ["v1"]);
  assert.deepEqual(await servedVersions(scripted([refusal(404, "NotFound")]).client, "x"), []);
  await assert.rejects(servedVersions(scripted([refusal(403, "Forbidden")]).client, "x"), (reason) =>
    isFault(reason, "PermissionDenied"),
  );
});

const group = (...versions: readonly string[]) => ok({ versions: versions.map((version) => ({ version })) });
const resources = (...names: readonly string[]) => ok({ resources: names.map((name) => ({ name })) });

test("a kind has the newest version in which the server has this very kind", async () => {
  const served = (...answers: Parameters<typeof scripted>[0]) =>
    servedVersionOf(scripted(answers).client, "VolumeSnapshot");
  assert.equal(await served(group("v1beta1", "v1"), resources("volumesnapshots")), "v1");
  assert.equal(await served(group("v1beta1"), resources("volumesnapshots")), "v1beta1");
  const mixed = [group("v1", "v1beta1"), resources("volumesnapshotclasses"), resources("volumesnapshots")];
  assert.equal(await served(...mixed), "v1beta1");
  assert.equal(await served(group("v1", "v1beta1"), refusal(404, "NotFound"), resources("volumesnapshots")), "v1beta1");
  assert.equal(await served(group("v1alpha1")), undefined);
  assert.equal(await served(refusal(404, "NotFound")), undefined);
  await assert.rejects(served(group("v1"), refusal(403, "Forbidden")), { code: "PermissionDenied" });
});

test("no question is asked for what Kubernetes itself brings", async () => {
  const { client, asked } = scripted([]);
  assert.equal(await servedVersionOf(client, "StorageClass"), "v1");
  assert.deepEqual(asked, []);
});
