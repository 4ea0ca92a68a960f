import assert from "node:assert/strict";
import { test } from "node:test";
import { everythingOf, nameOf, planIn, readerOf } from "../../../test/install-cluster.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { JsonObject } from "../../base/json.ts";
import { describe } from "./selection.ts";
import { uninstallAll } from "./uninstall.ts";

const plan = planIn("one", "webhook");

interface Given {
  readonly isDryRun?: boolean;
  /** For how many looks pods are there after their workload was deleted. */
  readonly looks?: number;
  readonly msMax?: number;
  /** What somebody creates once the pods are gone. */
  readonly meanwhile?: JsonObject;
  /** What is gone already when it is deleted. */
  readonly gone?: string;
}

async function uninstalled({ isDryRun = false, looks = 0, msMax = 60_000, meanwhile, gone }: Given) {
  const world = createVirtualWorld();
  const cluster = [...everythingOf(plan)];
  const steps: string[] = [];
  let left = looks;
  const ending = new Set<string>();
  const said: string[] = [];
  const resources = {
    ...readerOf(cluster),
    read: async (object: Parameters<typeof describe>[0]) => {
      if (ending.has(describe(object)) && left > 0) {
        left -= 1;
        steps.push("pods are there");
      } else if (ending.has(describe(object))) {
        ending.delete(describe(object));
        cluster.splice(
          cluster.findIndex((found) => nameOf(found) === describe(object)),
          1,
        );
        if (meanwhile !== undefined) cluster.push(meanwhile);
      }
      return cluster.find((found) => nameOf(found) === describe(object));
    },
    remove: async (object: JsonObject, { isForeground = false } = {}) => {
      if (nameOf(object) === gone) return false;
      steps.push(`${isForeground ? "end" : "remove"} ${nameOf(object)}`);
      if (isForeground) ending.add(nameOf(object));
      return true;
    },
    replace: async () => undefined,
    apply: async () => ({}),
    forget: () => undefined,
  };
  const shown: string[] = [];
  const waiting = {
    world,
    signal: new AbortController().signal,
    msMax,
    progress: (text: () => string) => void shown.push(text()),
  };
  await world.run(uninstallAll(plan, { resources, waiting, isDryRun, say: (line) => void said.push(line) }));
  return { steps, said, shown, tookMs: world.elapsed() };
}
const deployment = "Deployment one/snapshot-validation-deployment";

test("rights and certificates are deleted when the pods have ended", async () => {
  const { steps, shown, tookMs } = await uninstalled({ looks: 2 });
  assert.deepEqual(steps.slice(0, 4), [
    "remove ValidatingWebhookConfiguration webhook-validation.storage.sigs.k8s.io",
    `end ${deployment}`,
    "pods are there",
    "pods are there",
  ]);
  assert.deepEqual(new Set(shown), new Set([`waiting until the pods of ${deployment} have ended`]));
  assert.equal(tookMs, 400);
  assert.equal(steps.at(-1), "remove Namespace one");
});

test("pods that do not end are named after the timeout, and the rest goes", async () => {
  const { steps, said, tookMs } = await uninstalled({ looks: Number.POSITIVE_INFINITY, msMax: 1_000 });
  assert.ok(said.includes(`the pods of ${deployment} have not ended; they lose their rights now`), said.join("\n"));
  assert.ok(steps.includes("remove ServiceAccount one/snapshot-webhook"));
  assert.equal(tookMs, 1_200);
});

test("each object is named before, deleted once, and counted", async () => {
  const { steps, said } = await uninstalled({});
  const deleted = steps.map((step) => step.replace(/^(end|remove) /, "")).sort();
  const named = said.flatMap((line) => /^deletes: (.*)$/.exec(line)?.[1] ?? []);
  assert.deepEqual([...named].sort(), deleted);
  assert.equal(said[named.length], `${deleted.length} objects deleted`);
});

test("what somebody else has deleted meanwhile is not counted", async () => {
  const all = (await uninstalled({})).steps.length;
  const { said } = await uninstalled({ gone: "ServiceAccount one/snapshot-webhook" });
  assert.ok(said.includes(`${all - 1} objects deleted`), said.join("\n"));
});

test("a namespace that somebody has begun to use meanwhile stays", async () => {
  const pod = { kind: "Pod", metadata: { namespace: "one", name: "theirs", labels: {} } };
  const { steps, said } = await uninstalled({ meanwhile: pod });
  assert.ok(said.includes("stays: Namespace one, which is in use by Pod one/theirs"), said.join("\n"));
  assert.ok(!steps.includes("remove Namespace one"));
});

test("a dry run names the same, and deletes nothing", async () => {
  const { steps, said } = await uninstalled({ isDryRun: true });
  assert.deepEqual(steps, []);
  const real = (await uninstalled({})).said.filter((line) => line.startsWith("deletes: "));
  assert.deepEqual(
    said.filter((line) => line.startsWith("would delete: ")),
    real.map((line) => line.replace("deletes: ", "would delete: ")),
  );
  assert.ok(!said.some((line) => line.endsWith("objects deleted")));
  assert.ok(said.some((line) => line.startsWith("stays: CustomResourceDefinition ")) === plan.crds.length > 0);
});
