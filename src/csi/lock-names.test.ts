import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { Controller, GroupController, Identity, Node } from "./gen/csi_pb.js";
import { lockNameOf } from "./lock-names.ts";
import { unaryMethodsOf } from "./wire.ts";

const ids = { name: "n", volumeId: "v", snapshotId: "s", groupSnapshotId: "g" };
const nameFor = (method: DescMethodUnary, init: object): string | undefined =>
  lockNameOf({ method, request: create(method.input, init as Message) });

const methods = [Identity, Controller, GroupController, Node].flatMap(unaryMethodsOf);
const reads = /^(Get|List|Probe|Validate|ControllerGet|GroupControllerGet|NodeGet)/;

test("every call that writes has a lock, and no call that reads", () => {
  const unlocked = methods.filter((method) => nameFor(method, ids) === undefined).map(({ name }) => name);
  assert.deepEqual(
    unlocked,
    methods.map(({ name }) => name).filter((name) => reads.test(name)),
  );
});

test("a call without an id takes no lock, because the handler rejects it", () =>
  assert.equal(nameFor(Controller.method.deleteVolume, {}), undefined));

test("staging, publishing and deleting one volume exclude each other", () => {
  const { deleteVolume } = Controller.method;
  const { nodeStageVolume, nodePublishVolume } = Node.method;
  const names = [deleteVolume, nodeStageVolume, nodePublishVolume].map((method) => nameFor(method, { volumeId: "v" }));
  assert.deepEqual(new Set(names), new Set(["volume v"]));
});

test("a name and an id with equal text do not share a lock", () =>
  assert.notEqual(
    nameFor(Controller.method.createSnapshot, { name: "x" }),
    nameFor(Controller.method.deleteSnapshot, { snapshotId: "x" }),
  ));
