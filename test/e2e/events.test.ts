/** Events on the real kube-apiserver: accepted for every kind of object, counted, and shown by kubectl. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { silent } from "../../src/base/log.ts";
import { realWorld } from "../../src/base/world.ts";
import { createEventRecorder } from "../../src/kube/events.ts";
import { type Connection, connect } from "./harness/client.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { until } from "./harness/until.ts";

let plane: ControlPlane;
let connection: Connection;
let namespace: string;

describe("events on the real API server", () => {
  before(async () => {
    plane = await useControlPlane();
    connection = await connect(plane.kubeconfig);
    namespace = await newNamespace(plane, "events");
  });
  after(() => connection?.close());

  const recorder = () =>
    createEventRecorder({
      api: connection.client,
      world: realWorld,
      log: silent,
      component: "csi-snapshotter hostpath.csi.k8s.io",
    });

  const eventsAbout = async (uid: string, from: string) => {
    const fieldSelector = `involvedObject.uid=${uid}`;
    return (await connection.client.list("Event", { namespace: from, fieldSelector })).objects;
  };

  test("an event is created, counted when it happens again, and described by kubectl", async () => {
    const about = await connection.client.create("ConfigMap", draftOf("ConfigMap", { namespace, name: "busy" }, {}));
    const { record, close } = recorder();
    const happens = (message: string) => record(about, { type: "Warning", reason: "SnapshotCreationFailed", message });
    happens("no space left");
    happens("no space left");
    const [first] = await until({ what: "the event is there" }, async () => {
      const events = await eventsAbout(about.metadata.uid, namespace);
      return events.length > 0 ? events : undefined;
    });
    assert.equal(first?.count, 2);
    happens("no space left");
    await close(5_000);
    const events = await eventsAbout(about.metadata.uid, namespace);
    assert.deepEqual(
      events.map(({ count, message }) => [count, message]),
      [[3, "no space left"]],
    );
    const { stdout } = await createKubectl(plane.kubeconfig)(["describe", "configmap", "busy", "-n", namespace]);
    assert.match(
      stdout,
      /Warning +SnapshotCreationFailed .*\(x3 over .*csi-snapshotter hostpath.csi.k8s.io +no space left/,
    );
  });

  test("an event about an object without a namespace is accepted in default", async () => {
    const about = await connection.client.get({ kind: "Namespace", name: namespace });
    const { record, close } = recorder();
    record(about, { type: "Normal", reason: "Seen", message: "It is there." });
    await close(5_000);
    const events = await eventsAbout(about.metadata.uid, "default");
    assert.deepEqual(
      events.map(({ reason }) => reason),
      ["Seen"],
    );
  });

  test("an event about an object with the longest name there may be is accepted", async () => {
    const name = `${"a".repeat(234)}.${"b".repeat(18)}`;
    const about = await connection.client.create("ConfigMap", draftOf("ConfigMap", { namespace, name }, {}));
    const { record, close } = recorder();
    record(about, { type: "Normal", reason: "Seen", message: "It is there." });
    await close(5_000);
    assert.equal((await eventsAbout(about.metadata.uid, namespace)).length, 1);
  });
});
