/** `snapkeep verify --no-pods` on a real control plane: it works, it says what stands in the way, and whatever ends it leaves nothing. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { podIn, scratchLabel, scripts } from "../../src/cli/verify/objects.ts";
import { startCommand } from "../command-line.ts";
import { aStorageClass } from "./harness/claims.ts";
import { componentProgram, startComponent } from "./harness/components.ts";
import type { Daemon } from "./harness/instance.ts";
import { newNamespace } from "./harness/shared.ts";
import {
  drivers,
  type SnapshotSuite,
  shortName,
  snapshotSuiteFor,
  type TestServer,
  testServers,
} from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

describe("snapkeep verify", () => {
  let place: TestServer;
  let suite: SnapshotSuite;
  let provisioner: Daemon;
  let storageClass: string;

  const flags = () => [
    "--no-pods",
    "--size=1Mi",
    `--storage-class=${storageClass}`,
    `--class=${suite.classes.delete}`,
    `--kubeconfig=${place.kubeconfig}`,
  ];
  const verify = async (...more: readonly string[]) => {
    const { code, said } = startCommand("verify", ...flags(), ...more);
    return { code: await code, ...said };
  };
  const namespaces = async (): Promise<readonly string[]> => {
    const { objects } = await place.connection.client.list("Namespace", { labelSelector: scratchLabel });
    return objects.map(({ metadata }) => metadata.name);
  };
  const nothingLeft = async () => {
    const { client } = place.connection;
    assert.deepEqual(await namespaces(), []);
    for (const kind of ["PersistentVolume", "VolumeSnapshotContent"] as const)
      assert.deepEqual(
        (await client.list(kind)).objects.map(({ metadata }) => metadata.name),
        [],
      );
    assert.deepEqual((await suite.fixtures.csi.controller.listVolumes({})).entries, []);
  };

  before(async () => {
    place = await testServers["real control plane"]();
    await startComponent(place, "snapshot-controller");
    const driver = await drivers["directory-driver"](place.instance);
    suite = await snapshotSuiteFor(place, place.connection, driver);
    storageClass = shortName(driver);
    await aStorageClass(place.connection.client, storageClass, driver.driver);
    provisioner = await startComponent(place, "csi-provisioner", [`--csi-address=${driver.socket}`]);
  });
  after(() => {
    suite?.fixtures.csi.close();
    place?.stop();
  });

  test("a round passes, with a time for each step, and leaves nothing on the storage", async () => {
    const { code, out, text } = await verify();
    assert.equal(code, 0, text);
    assert.equal(out.match(/✓ .* \d+\.\d s/g)?.length, 4, out);
    assert.match(out, /snapshots work, as far as can be seen without pods: \d+\.\d s\n$/);
    await nothingLeft();
  });

  test("a round as JSON has its result, its steps and their times", async () => {
    const { code, out } = await verify("-o=json");
    const found = JSON.parse(out);
    assert.deepEqual([code, found.result, found.storageClass, found.left], [0, "passed", storageClass, []]);
    assert.deepEqual(
      found.steps.map(({ name, seconds }: { name: string; seconds: number }) => [name, seconds > 0]),
      ["claim", "snapshot", "restore", "removal"].map((name) => [name, true]),
    );
  });

  test("without a default class it is blocked, with exit code 3, before it creates anything", async () => {
    const { code, said } = startCommand("verify", "--no-pods", `--kubeconfig=${place.kubeconfig}`);
    assert.equal(await code, 3, said.text);
    assert.match(said.out, /no StorageClass is the default; there is \S+; .*\[SNAP-851\]/);
    await nothingLeft();
  });

  test("while the sidecar is down, the round ends by its timeout, with exit code 4, and says who has to act", async () => {
    await suite.sidecar.stop();
    const { code, out } = await verify("--timeout=3s");
    assert.equal(code, 4, out);
    assert.match(out, /✗ a snapshot is ready\n +snapshot taken is not ready.* after 3 s; .*\[SNAP-861\]/);
    assert.match(out, /VolumeSnapshot \S+\/taken (waits|is stuck)/);
    assert.match(out, /✗ not removed: VolumeSnapshot \S+\/taken.*\[SNAP-862\]/);
    const [left] = await namespaces();
    await suite.startSidecar();
    const next = await verify();
    assert.equal(next.code, 0, next.text);
    assert.ok(next.out.includes(`removed namespace ${left}, which`), next.out);
    await nothingLeft();
  });

  test("its pods are admitted to a namespace that enforces the restricted standard, and those that run as root are not", async () => {
    const { plane } = place;
    if (plane === undefined) assert.fail();
    const home = await newNamespace(plane, "restricted");
    const ref = { kind: "Namespace", name: home } as const;
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await place.connection.client.patch(ref, { type: "merge", body: { metadata: { labels } } });
    const admitted = async (asRoot: boolean) => {
      const pod = podIn(home, "writer", "source", scripts.writer("words"), { image: "box", asRoot });
      return (await plane.request("POST", `/api/v1/namespaces/${home}/pods?dryRun=All`, pod)).status;
    };
    assert.deepEqual([await admitted(false), await admitted(true)], [201, 403]);
  });

  /** As a user starts it, in a process of its own that can be killed. */
  const started = async (): Promise<{ readonly child: ChildProcess; said(): string }> => {
    const child = spawn(process.execPath, [...componentProgram, "verify", ...flags()]);
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    return { child, said: () => said };
  };
  /** In the middle of its work: without a provisioner its claim gets no volume. */
  const waitingRound = async () => {
    await provisioner.stop();
    const round = await started();
    await until({ what: "the round waits for its claim" }, async () => {
      if (round.child.exitCode !== null) throw new Error(round.said());
      const [, namespace] = /in namespace (\S+)\n/.exec(round.said()) ?? [];
      if (namespace === undefined) return undefined;
      const { objects } = await place.connection.client.list("PersistentVolumeClaim", { namespace });
      return objects.length > 0 ? true : undefined;
    });
    return round;
  };
  const goOn = async () => {
    provisioner = await startComponent(place, "csi-provisioner", [`--csi-address=${suite.driver.socket}`]);
  };

  test("Ctrl-C removes what the round has made", async () => {
    const { child, said } = await waitingRound();
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    assert.equal(code, 1, said());
    assert.match(said(), /✓ everything is removed.*\n\ninterrupted after /);
    await goOn();
    await nothingLeft();
  });

  test("after kill -9 the next round removes what the killed one has left", async () => {
    const { child } = await waitingRound();
    child.kill("SIGKILL");
    await once(child, "close");
    const [left] = await namespaces();
    assert.notEqual(left, undefined);
    await goOn();
    const { code, out, text } = await verify();
    assert.equal(code, 0, text);
    assert.ok(out.includes(`removed namespace ${left}, which a round that was killed has left`), out);
    await nothingLeft();
  });

  test("with --keep everything stays until its namespace is deleted", async () => {
    const { code, out } = await verify("--keep");
    assert.equal(code, 0, out);
    const [kept = ""] = await namespaces();
    assert.ok(out.includes(`kubectl delete namespace ${kept}`));
    const { client } = place.connection;
    assert.equal((await client.list("VolumeSnapshot", { namespace: kept })).objects[0]?.status?.readyToUse, true);
    await client.delete({ kind: "VolumeSnapshot", namespace: kept, name: "taken" });
    await client.delete({ kind: "Namespace", name: kept });
    await until({ what: "the namespace and its volumes are gone" }, async () => {
      const volumes = (await client.list("PersistentVolume")).objects.length;
      return volumes + (await namespaces()).length === 0 ? true : undefined;
    });
  });
});
