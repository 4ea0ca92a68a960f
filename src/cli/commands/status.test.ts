import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { createClaim, createSnapshot, driver, startHarness } from "../../../test/command-harness.ts";
import { draftOf } from "../../api/builders.ts";
import type { JsonObject } from "../../base/json.ts";
import { microTime } from "../../base/time.ts";
import { realWorld } from "../../base/world.ts";
import { installationOf } from "../deploy.ts";
import { isWorkload, planFor } from "../install/selection.ts";

type Client = Awaited<ReturnType<typeof startHarness>>["client"];

/** A component leads as long as its lease says so. */
async function leads(client: Client, name: string, holderIdentity: string): Promise<void> {
  const now = microTime(realWorld.now());
  const spec = { holderIdentity, leaseDurationSeconds: 3_600, renewTime: now, acquireTime: now };
  await client.create("Lease", draftOf("Lease", { namespace: "kube-system", name }, { spec }));
}
const allLead = (client: Client) =>
  Promise.all([
    leads(client, "snapshot-controller-leader", "controller-0"),
    leads(client, `external-snapshotter-leader-${driver.replaceAll(".", "-")}`, "sidecar-0"),
  ]);

test("an installation that leads and has nothing to do is as it should be, and the exit code is 0", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await allLead(client);
  const { code, said } = start("status");
  assert.equal(await code, 0, said());
  assert.match(said(), /^127\.0\.0\.1:\d+: everything is as it should be\n/);
  assert.match(said(), /^ {2}snapshot-controller +controller-0$/m);
  assert.match(said(), /^ {2}plain\.example\.com\n {4}csi-snapshotter +sidecar-0$/m);
});

test("a snapshot whose controller does not run needs a person: exit code 1, the reason, the oldest object and a command", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await createSnapshot(client, "monday");
  await createSnapshot(client, "tuesday");
  const { code, said } = start("status");
  assert.equal(await code, 1, said());
  assert.match(
    said(),
    /^Needs a person\n {2}ComponentDown {2}2 objects, since \d+s\n {4}VolumeSnapshot default\/monday: no/m,
  );
  assert.match(said(), /^ {4}also vs\/default\/tuesday$/m);
  assert.match(said(), /^ {4}> snapkeep install --/m);
});

test("a sidecar that the next snapshot will wait for needs a person before anything waits", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await leads(client, "snapshot-controller-leader", "controller-0");
  const { code, said } = start("status");
  assert.equal(await code, 1, said());
  assert.match(said(), /1 thing needs a person/);
  assert.match(said(), /^Does not work\n {2}csi-snapshotter of driver plain\.example\.com: does not run: there is/m);
});

test("-n and -l choose the objects, and -o json has them with dates", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  const ref = await createSnapshot(client, "monday");
  await createSnapshot(client, "tuesday");
  await client.patch(ref, { type: "merge", body: { metadata: { labels: { app: "db" } } } });
  const waitingIn = async (...flags: readonly string[]) => {
    const { code, said } = start("status", "-o", "json", ...flags);
    await code;
    const { waiting, kind, time } = JSON.parse(said());
    assert.equal(kind, "Status");
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    return waiting.flatMap(({ objects }: { objects: { name: string; since: string }[] }) =>
      objects.map(({ name, since }) => `${name} ${Number.isNaN(Date.parse(since)) ? "undated" : "dated"}`),
    );
  };
  assert.deepEqual(await waitingIn(), ["monday dated", "tuesday dated"]);
  assert.deepEqual(await waitingIn("-n", "default", "-l", "app in (db)"), ["monday dated"]);
  assert.deepEqual(await waitingIn("-n", "elsewhere"), []);
});

test("--wait ends when nothing waits any more, and with exit code 4 when the time is over", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  const waiting = start("status", "--wait", "--timeout=20s");
  await allLead(client);
  assert.equal(await waiting.code, 0, waiting.said());
  await createSnapshot(client, "monday");
  const late = start("status", "--wait", "--timeout=1s");
  assert.equal(await late.code, 4, late.said());
  assert.match(late.said(), /1 object waits|needs? a person/);
});

test("flags that contradict each other, and a selector that is none, are one line each", async (t) => {
  const { start } = await startHarness(t);
  const both = start("status", "-A", "-n", "team");
  assert.equal(await both.code, 2);
  assert.match(both.said(), /--namespace and --all-namespaces exclude each other; give one\n$/);
  const selector = start("status", "-l", "app in db");
  assert.equal(await selector.code, 2);
  assert.match(selector.said(), /^snapkeep status: --selector: .+\n$/);
});

test("it writes nothing, lists each kind once and has no escape sequence", async (t) => {
  const asked: string[] = [];
  const { client, start } = await startHarness(t, {
    beforeRequest: async ({ method, path }) => void asked.push(`${method} ${path.split("?")[0]}`),
  });
  await createClaim(client);
  await createSnapshot(client, "monday");
  const { code, said } = start("status");
  await code;
  assert.deepEqual(
    asked.filter((request) => !request.startsWith("GET")),
    [],
  );
  const lists = asked.filter((request) => /\/(v1|v1\w+)\/[a-z]+$/.test(request));
  assert.ok(lists.length > 8, lists.join("\n"));
  assert.deepEqual(lists.toSorted(), [...new Set(lists)].toSorted());
  assert.ok(!said().includes("\u001b"));
});

test("an installation whose pods are not ready does not work, in the words of install --check", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await allLead(client);
  const plan = planFor(["snapshot-controller"], installationOf("1.2.3", { namespace: "snapkeep" }));
  await client.create("Namespace", draftOf("Namespace", { name: "snapkeep" }, {}));
  for (const workload of plan.objects.filter(isWorkload))
    await client.applyPath(
      `/apis/apps/v1/namespaces/snapkeep/deployments/${workload.metadata.name}`,
      workload as unknown as JsonObject,
      { fieldManager: "tester" },
    );
  const { code, said } = start("status");
  assert.equal(await code, 1, said());
  assert.match(
    said(),
    /^Does not work\n {2}Deployment snapkeep\/snapshot-controller: not seen by its controller yet\n {2}Lease /m,
  );
});

test("-o wide cuts nothing and says when leases were renewed, -o yaml is what JSON is", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await allLead(client);
  const printed = async (output: string): Promise<string> => {
    const { code, said } = start("status", "-o", output);
    assert.equal(await code, 0, said());
    return said();
  };
  assert.match(await printed("wide"), /^ {2}snapshot-controller +controller-0 \(lease renewed \d+s ago\)$/m);
  assert.equal(parse(await printed("yaml")).verdict, JSON.parse(await printed("json")).verdict);
});
