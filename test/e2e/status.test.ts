/** `snapkeep status` on a real control plane: what runs, what waits when a sidecar is gone, what a stranger sees, and how often it asks. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { startCommand } from "../command-line.ts";
import { aBoundClaim, componentProgram, startComponent } from "./harness/components.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { newNamespace } from "./harness/shared.ts";
import {
  drivers,
  type SnapshotSuite,
  snapshotSuiteFor,
  type TestServer,
  testServers,
} from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

/** More than a page. `SNAPSHOTS=10000` for a large cluster. */
const snapshotCount = Number(process.env.SNAPSHOTS ?? 600);

/** A service account without any rights. */
async function strangerOf(plane: ControlPlane): Promise<{ readonly kubeconfig: string }> {
  const namespace = await newNamespace(plane, "stranger");
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await plane.request("POST", accounts, { metadata: { name: "stranger" } });
  const { text } = await plane.request("POST", `${accounts}/stranger/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {},
  });
  return { kubeconfig: plane.kubeconfigFor("stranger", JSON.parse(text).status.token) };
}

describe("snapkeep status", () => {
  let place: TestServer;
  let suite: SnapshotSuite;
  const flags = (...more: readonly string[]) => ["status", `--kubeconfig=${place.kubeconfig}`, ...more] as const;
  const status = async (...more: readonly string[]) => {
    const { code, said } = startCommand(...flags(...more));
    return { code: await code, ...said };
  };
  const json = async (...more: readonly string[]) => JSON.parse((await status("-o=json", ...more)).out);

  before(async () => {
    place = await testServers["real control plane"]();
    await startComponent(place, "snapshot-controller");
    const driver = await drivers["directory-driver"](place.instance);
    suite = await snapshotSuiteFor(place, place.connection, driver, ["--leader-election"]);
  });
  after(() => {
    suite?.fixtures.csi.close();
    place?.stop();
  });

  test("with controller and sidecar running, --wait ends with exit code 0 and names both leaders", async () => {
    const { code, out, text } = await status("--wait", "--timeout=60s");
    assert.equal(code, 0, text);
    assert.match(out, /^127\.0\.0\.1:\d+: everything is as it should be\n/);
    const { components, definitions, drivers: found } = await json();
    const leading = components.filter(({ leader }: { leader?: string }) => leader !== undefined);
    assert.deepEqual(
      leading.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`),
      ["snapshot-controller leads", "csi-snapshotter leads"],
      text,
    );
    assert.ok(definitions.some(({ name }: { name: string }) => name === "volumesnapshots.snapshot.storage.k8s.io"));
    assert.equal(found[0].name, suite.fixtures.driver);
    assert.deepEqual(found[0].capabilities, ["snapshots"]);
  });

  test("a snapshot has all its steps in its timeline, and its deletion leads to what was said before", async () => {
    await aBoundClaim(suite.fixtures, "lived");
    await suite.take("lived", "lived", suite.classes.delete);
    await suite.untilReady("lived");
    const run = async (...argv: readonly string[]) => {
      const { code, said } = startCommand(...argv, `--kubeconfig=${place.kubeconfig}`, "-o=json");
      return { code: await code, found: JSON.parse(said.out) };
    };
    const { found } = await run("timeline", "vs/lived");
    assert.deepEqual(found.moments.map(({ code }: { code: string }) => code).toSorted(), [
      "contentCreated",
      "ready",
      "reported",
      "requested",
      "taken",
    ]);
    const before = await suite.handles();
    const told = await run("what-if", "delete", "vs/lived");
    assert.equal(told.code, 1);
    assert.deepEqual(await suite.handles(), before);
    await suite.remove("lived");
    const left = await suite.handles();
    assert.deepEqual(
      told.found.lost.map(({ handle }: { handle: string }) => handle),
      before.filter((handle) => !left.includes(handle)),
    );
    assert.deepEqual(told.found.blocks, []);
  });

  test("a snapshot that a user asks for wrongly needs a person, and in other namespaces nothing does", async () => {
    const { plane, connection } = place;
    if (plane === undefined) assert.fail();
    const namespace = await newNamespace(plane, "status");
    const spec = { source: { persistentVolumeClaimName: "nothing" }, volumeSnapshotClassName: suite.classes.delete };
    const ref = { kind: "VolumeSnapshot", namespace, name: "monday" } as const;
    await connection.client.create(ref.kind, draftOf(ref.kind, ref, { spec }));
    const { code, out } = await status(`-n=${namespace}`);
    assert.equal(code, 1, out);
    assert.match(out, /^Needs a person\n {2}ClaimNotFound {2}1 object/m);
    assert.match(out, new RegExp(`^ {4}VolumeSnapshot ${namespace}/monday: `, "m"));
    assert.ok(
      out.split("\n").every((line) => line.length <= 80 || line.startsWith("    > ")),
      out,
    );
    assert.equal((await status("-n=default")).code, 0);
    await connection.client.delete(ref);
  });

  test("who may read one namespace only is told what could not be read, and sees the rest", async () => {
    const { plane } = place;
    if (plane === undefined) assert.fail();
    const { kubeconfig } = await strangerOf(plane);
    const { code, said } = startCommand("status", `--kubeconfig=${kubeconfig}`);
    assert.notEqual(await code, 2, said.text);
    assert.match(
      said.out,
      /^Could not be read, so it is not judged\n {2}may not list VolumeSnapshot in all namespaces$/m,
    );
  });

  test("its output may be cut off by head, and Ctrl-C ends --wait at once", async () => {
    const head = spawn("sh", [
      "-c",
      `"$0" ${componentProgram[0]} status --kubeconfig=${place.kubeconfig} | head -n 1`,
      process.execPath,
    ]);
    const said: string[] = [];
    for (const stream of [head.stdout, head.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => said.push(text));
    const [code] = await once(head, "close");
    assert.equal(code, 0);
    assert.match(said.join(""), /^127\.0\.0\.1:\d+: [^\n]*\n$/);

    const missing = { kind: "VolumeSnapshot", namespace: "default", name: "never" } as const;
    const spec = { source: { persistentVolumeClaimName: "nothing" }, volumeSnapshotClassName: suite.classes.delete };
    await place.connection.client.create(missing.kind, draftOf(missing.kind, missing, { spec }));
    const waiting = spawn(process.execPath, [...componentProgram, ...flags("--wait")], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    await once(waiting.stderr, "data");
    waiting.kill("SIGINT");
    assert.deepEqual(await once(waiting, "close"), [0, null]);
    await place.connection.client.delete(missing);
  });

  test("when the sidecar has stopped, what waits for it is one reason, the oldest first", async () => {
    await suite.sidecar.stop();
    await aBoundClaim(suite.fixtures, "data");
    await suite.take("monday", "data", suite.classes.delete);
    await suite.take("tuesday", "data", suite.classes.delete);
    await until({ what: "the lease of the sidecar has run out" }, async () => {
      const { waiting } = await json();
      return waiting.some(({ code }: { code: string }) => code === "ComponentDown") ? true : undefined;
    });
    const { waiting, components } = await json();
    const group = waiting.find(({ code }: { code: string }) => code === "ComponentDown");
    assert.match(group.says, new RegExp(`csi-snapshotter of driver ${suite.fixtures.driver}`));
    const names = group.objects
      .filter(({ kind }: { kind: string }) => kind === "VolumeSnapshot")
      .map(({ name }: { name: string }) => name);
    assert.deepEqual(names.toSorted(), ["monday", "tuesday"]);
    const sidecar = components.find(({ name }: { name: string }) => name === "csi-snapshotter");
    assert.equal(sidecar.state, "does not run");
  });

  test(`of ${snapshotCount} snapshots each kind is listed once`, async () => {
    const { plane, connection } = place;
    if (plane === undefined) assert.fail();
    const namespace = await newNamespace(plane, "many");
    const spec = { source: { persistentVolumeClaimName: "nothing" }, volumeSnapshotClassName: "no-such-class" };
    let next = 0;
    const create = async (): Promise<void> => {
      while (next < snapshotCount) {
        next += 1;
        const ref = { namespace, name: `s-${next}` };
        await connection.client.create("VolumeSnapshot", draftOf("VolumeSnapshot", ref, { spec }));
      }
    };
    await Promise.all(Array.from({ length: 16 }, create));
    const position = plane.auditPosition();
    const startedAt = performance.now();
    const { objects } = await json("-n", namespace);
    const tookMs = Math.round(performance.now() - startedAt);
    assert.deepEqual(
      objects.map(({ kind, count }: { kind: string; count: number }) => [kind, count]),
      [["VolumeSnapshot", snapshotCount]],
    );
    const asked = plane.auditLog(position).filter(({ userAgent }) => userAgent?.startsWith("snapkeep-status/"));
    const lists = asked
      .filter(({ verb, requestURI }) => verb === "list" && !requestURI.includes("continue="))
      .map(({ requestURI }) => requestURI.split("?")[0] ?? "");
    assert.deepEqual(lists.toSorted(), [...new Set(lists)].toSorted());
    assert.ok(
      lists.includes(`/apis/snapshot.storage.k8s.io/v1/namespaces/${namespace}/volumesnapshots`),
      lists.join("\n"),
    );
    assert.deepEqual([...new Set(asked.map(({ verb }) => verb))].toSorted(), ["get", "list"]);
    assert.ok(tookMs > 0);
  });
});
