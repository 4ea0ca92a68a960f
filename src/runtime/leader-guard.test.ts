import assert from "node:assert/strict";
import { test } from "node:test";
import { Controller, Identity } from "../csi/gen/csi_pb.js";
import { createLeaderGuard } from "./leader-guard.ts";

const contents = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents";
const requests: readonly { method: string; path: string; refused: boolean }[] = [
  { method: "PATCH", path: `${contents}/a`, refused: true },
  { method: "POST", path: contents, refused: true },
  { method: "DELETE", path: `${contents}/a`, refused: true },
  { method: "PUT", path: "/api/v1/namespaces/team/persistentvolumeclaims/events", refused: true },
  { method: "POST", path: "/api/v1/namespaces/team/eventsinks", refused: true },
  { method: "PATCH", path: "/api/v1/namespaces/team/events/a", refused: false },
  { method: "POST", path: "/api/v1/namespaces/team/events?fieldManager=x", refused: false },
  { method: "GET", path: contents, refused: false },
  { method: "PUT", path: "/apis/coordination.k8s.io/v1/namespaces/team/leases/a", refused: false },
  { method: "POST", path: "/api/v1/namespaces/team/events", refused: false },
  { method: "POST", path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", refused: false },
];
for (const { method, path, refused } of requests)
  test(`a replica that lost the lease ${refused ? "does not send" : "may still send"} ${method} ${path}`, () => {
    const request = { method, path } as never;
    assert.equal(createLeaderGuard(() => false).ofRequest(request)?.code, refused ? "Aborted" : undefined);
    assert.equal(createLeaderGuard(() => true).ofRequest(request), undefined);
  });

const calls = [
  { method: Controller.method.createSnapshot, refused: true },
  { method: Controller.method.deleteSnapshot, refused: true },
  { method: Controller.method.listSnapshots, refused: true },
  { method: Controller.method.controllerGetCapabilities, refused: false },
  { method: Identity.method.probe, refused: false },
  { method: Identity.method.getPluginInfo, refused: false },
];
for (const { method, refused } of calls)
  test(`a replica that lost the lease ${refused ? "does not call" : "may still call"} ${method.name}`, () => {
    assert.equal(createLeaderGuard(() => false).ofCall({ method })?.code, refused ? "Aborted" : undefined);
    assert.equal(createLeaderGuard(() => true).ofCall({ method }), undefined);
  });
