import assert from "node:assert/strict";
import { test } from "node:test";
import { everythingOf, nameOf, planIn, readerOf } from "../../../test/install-cluster.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { JsonObject } from "../../base/json.ts";
import type { KubeApi } from "../../kube/api.ts";
import { applyAll } from "./apply.ts";
import type { Resources } from "./resources.ts";
import { describe } from "./selection.ts";

const plan = planIn("one", "snapshot-controller");
const done = { observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2, replicas: 2 };
const established = { conditions: [{ type: "Established", status: "True" }] };

/** A cluster that takes what is applied, and whose controllers do their work after so many looks. */
async function applied(given: {
  readonly cluster?: readonly JsonObject[];
  readonly msMax?: number;
  readonly looks?: number;
}) {
  const { cluster = [], msMax = 60_000, looks = 0 } = given;
  const world = createVirtualWorld();
  const stored = new Map(cluster.map((object) => [nameOf(object), object]));
  const steps: string[] = [];
  let looked = 0;
  const step = (text: string): void => {
    if (steps.at(-1) !== text) steps.push(text);
  };
  const resources: Resources = {
    ...readerOf(cluster, ["ServiceMonitor"]),
    read: async (object) => stored.get(describe(object)),
    apply: async (object) => {
      step(`apply ${object.kind}`);
      const isReady = (object.kind === "Deployment" && looked >= looks) || object.kind === "CustomResourceDefinition";
      const status = isReady ? { ...done, ...established } : {};
      const next = { ...(object as unknown as JsonObject), status } as JsonObject;
      stored.set(describe(object), next);
      return next;
    },
    replace: async () => undefined,
    remove: async () => false,
    forget: () => step("forget"),
  };
  const read = resources.read;
  resources.read = async (object) => {
    const found = await read(object);
    if (object.kind !== "Deployment" || found === undefined) return found;
    looked += 1;
    return looked > looks ? { ...found, status: done } : found;
  };
  const said: string[] = [];
  const shown: string[] = [];
  const waiting = {
    world,
    signal: new AbortController().signal,
    msMax,
    progress: (text: () => string) => void shown.push(text()),
  };
  const context = { api: {} as KubeApi, resources, waiting, say: (line: string) => void said.push(line) };
  const failure = await world.run(
    applyAll(plan, context).then(
      () => undefined,
      (reason: Error) => reason.message,
    ),
  );
  return { failure, steps, said, shown, tookMs: world.elapsed() };
}

test("definitions are applied first and looked up anew, then the namespace, then what pods need, then pods", async () => {
  const { failure, steps, said } = await applied({});
  assert.equal(failure, undefined);
  assert.deepEqual(steps.slice(0, 3), ["apply CustomResourceDefinition", "forget", "apply Namespace"]);
  assert.equal(steps.at(-1), "apply Deployment");
  assert.ok(!steps.includes("apply ServiceMonitor"));
  assert.deepEqual(said, [
    "3 CustomResourceDefinitions applied",
    "Namespace one created",
    `${plan.objects.length - 1} objects applied`,
    "left out, because the cluster does not serve ServiceMonitor (monitoring.coreos.com/v1): snapshot-controller",
    "everything is ready",
  ]);
});

test("given everything is there, then nothing is said of definitions that stay applied and of the namespace", async () => {
  const { said } = await applied({ cluster: everythingOf(plan) });
  assert.equal(said[0], "3 CustomResourceDefinitions applied");
  assert.ok(!said.some((line) => line.includes("Namespace")));
});

test("a refusal comes before the first write, after what was found", async () => {
  const renewTime = new Date(createVirtualWorld().now() - 1_000).toISOString();
  const lease: JsonObject = {
    kind: "Lease",
    metadata: { namespace: "storage", name: "snapshot-controller-leader" },
    spec: { holderIdentity: "other", leaseDurationSeconds: 15, renewTime },
  };
  const { failure = "", steps, said } = await applied({ cluster: [lease] });
  assert.match(failure, /another snapshot-controller is at work.*\[SNAP-801\]$/);
  assert.deepEqual(steps, []);
  assert.deepEqual(said, ["already there: Lease storage/snapshot-controller-leader is held by other"]);
});

test("--apply looks twice a second until the pods are ready, and says what it waits for", async () => {
  const { failure, shown, tookMs } = await applied({ looks: 4 });
  assert.equal(failure, undefined);
  const waits = shown.filter((line) => line.startsWith("waiting: "));
  assert.deepEqual(
    new Set(waits),
    new Set(["waiting: Deployment one/snapshot-controller: 0 of 2 pods are of this version"]),
  );
  assert.equal(tookMs, waits.length * 500);
  assert.ok(shown.includes("applied Deployment one/snapshot-controller"));
});

test("--apply gives up after the timeout, and names what is missing", async () => {
  const { failure = "", tookMs } = await applied({ looks: Number.POSITIVE_INFINITY, msMax: 3_000 });
  assert.match(failure, /^not ready after 3 s: Deployment one\/snapshot-controller: 0 of 2 pods are of this version; /);
  assert.equal(tookMs, 3_500);
});
