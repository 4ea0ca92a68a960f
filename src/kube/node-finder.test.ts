import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume } from "../../test/builders.ts";
import { createFakeKube } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { draftOf } from "../api/builders.ts";
import { silent } from "../base/log.ts";
import { createNodeFinder } from "./node-finder.ts";

const hostname = "kubernetes.io/hostname";
const aNode = (name: string, host: string) => draftOf("Node", { name, labels: { [hostname]: host } }, {} as never);

test("a volume is matched against the nodes once, and again when nodes or their labels change", async () => {
  const world = createVirtualWorld();
  const kube = createFakeKube();
  await kube.create("Node", aNode("b", "near"));
  await kube.create("Node", aNode("c", "far"));
  const finder = createNodeFinder(kube, { world, log: silent });
  const stop = new AbortController();
  const watching = finder.watch(stop.signal);
  await world.run(finder.synced(stop.signal));

  let compared = 0;
  const required = {
    get nodeSelectorTerms() {
      compared += 1;
      return [{ matchExpressions: [{ key: hostname, operator: "In", values: ["far"] }] }];
    },
  };
  const volume = aVolume({ spec: {} });
  const asked = { ...volume, spec: { ...volume.spec, nodeAffinity: { required } } } as typeof volume;
  const seen = () => {
    compared = 0;
    return [finder.placeOf(asked), finder.placeOf(asked), compared];
  };
  const onC = { kind: "node", name: "c" };
  const onA = { kind: "node", name: "a" };
  assert.deepEqual(seen(), [onC, onC, 2]);
  assert.deepEqual(seen(), [onC, onC, 0]);
  await kube.create("Node", aNode("a", "far"));
  await world.advance(10);
  assert.deepEqual(seen(), [onA, onA, 3]);
  await kube.patch(
    { kind: "Node", name: "a" },
    { type: "merge", body: { metadata: { labels: { [hostname]: "off" } } } },
  );
  await world.advance(10);
  assert.deepEqual(seen(), [onC, onC, 3]);
  await kube.delete({ kind: "Node", name: "c" });
  await world.advance(10);
  assert.deepEqual(seen(), [{ kind: "nowhere" }, { kind: "nowhere" }, 2]);
  stop.abort();
  await world.run(watching);
});
