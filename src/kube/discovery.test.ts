import assert from "node:assert/strict";
import { test } from "node:test";
import { ok, refusal, scripted } from "../../test/scripted-server.ts";
import { isFault } from "../base/fault.ts";
import { chooseVersions, servedVersions } from "./discovery.ts";

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

test("the client uses the newest version that it and the server support", async () => {
  const { client } = scripted([ok({ versions: [{ version: "v1beta1" }] }), refusal(404, "NotFound")]);
  assert.deepEqual(await chooseVersions(client, ["VolumeSnapshot", "VolumeSnapshotClass", "VolumeGroupSnapshot"]), {
    "snapshot.storage.k8s.io": "v1beta1",
  });
});
