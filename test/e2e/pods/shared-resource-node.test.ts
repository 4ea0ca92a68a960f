/** The share driver on real mounts and a real API server, asked as a kubelet asks: restarts, outages, refusals, and what is left behind. */
import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { ControllerServiceCapability_RPC_Type as Capability, Controller } from "../../../src/csi/gen/csi_pb.js";
import { serve } from "../../../src/csi/serve.ts";
import { faultOf, startDriver } from "../../csi-sockets.ts";
import { createAuthority } from "../harness/certificates.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import { createInstance } from "../harness/instance.ts";
import { freePort } from "../harness/ports.ts";
import { request } from "../harness/request.ts";
import { run } from "../harness/run.ts";
import {
  createShare,
  driverKubeconfig,
  installShares,
  letRead,
  letUse,
  revokeLetRead,
  startShareDriver,
  updateSource,
  type VolumeRequest,
} from "../harness/share-driver.ts";
import { kubeletOf, nothingLeft, reads, volumeIn } from "../harness/share-volumes.ts";
import { newNamespace, useControlPlane } from "../harness/shared.ts";
import { tool } from "../harness/tools.ts";
import { until } from "../harness/until.ts";

/** At import, so that a build counts against no test's time. */
const sanity = await tool("csi-sanity");

interface SpecReport {
  readonly State: string;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly Failure?: { readonly Message: string };
}

const canary = "canary-7c1f";
const tmpfsMagic = 0x01021994;

suite("the share driver on real mounts", () => {
  const instance = createInstance();
  after(async () => {
    await (await shared)?.proxy.close();
    instance.stop();
  });
  let shared: Promise<Setting> | undefined;
  const setting = (): Promise<Setting> => {
    shared ??= setUp();
    return shared;
  };
  type Setting = Awaited<ReturnType<typeof setUp>>;

  async function setUp() {
    const plane = await useControlPlane();
    await installShares(plane);
    const namespace = await newNamespace(plane, "share-node");
    const shares = [0, 1, 2, 3, 4].map((index) => ({
      kind: index % 2 === 0 ? ("SharedSecret" as const) : ("SharedConfigMap" as const),
      name: `${namespace}-${index}`,
      namespace,
      data: { token: `${canary} ${index} v1`, extra: `${canary} ${index} v1` },
    }));
    for (const share of shares) {
      await createShare(plane, share);
      await letUse(plane, { kind: share.kind, share: share.name, namespace });
    }
    const kubeconfig = await driverKubeconfig(plane);
    const { proxy, kubeconfig: proxied } = await proxyTo({ instance, kubeconfig });
    const [port, tlsPort] = [await freePort(), await freePort()];
    const authority = createAuthority("metrics of the share driver");
    const { certificate, key } = authority.issue({ commonName: "metrics", ipv4: ["127.0.0.1"] });
    const [certFile, keyFile] = [join(instance.folder, "tls.crt"), join(instance.folder, "tls.key")];
    writeFileSync(certFile, certificate);
    writeFileSync(keyFile, key);
    const driver = await startShareDriver(instance, {
      kubeconfig: proxied,
      flags: [
        `--http-endpoint=127.0.0.1:${port}`,
        `--https-endpoint=127.0.0.1:${tlsPort}`,
        `--tls-cert-file=${certFile}`,
        `--tls-private-key-file=${keyFile}`,
      ],
    });
    const metricsServer = { url: `https://127.0.0.1:${tlsPort}`, authority: authority.certificate };
    const overTls = async () => (await request(metricsServer, "GET", "/metrics", { token: "none" })).text;
    const [first, second, third] = shares;
    if (first === undefined || second === undefined || third === undefined) throw new Error("no shares");
    return { plane, namespace, shares, first, second, third, proxy, driver, port, overTls };
  }

  const volumeOf = ({ namespace, shares }: Setting, id: string, index = 0, more: Partial<VolumeRequest> = {}) => {
    const share = shares[index % shares.length];
    const asked = { id, namespace, share: share?.name ?? "", kind: share?.kind ?? "SharedSecret", ...more };
    return volumeIn(instance, asked);
  };

  test("a volume of upstream's driver is taken over by its record after a restart, beside our own, and unpublishing twice is no mistake", async (t) => {
    const found = await setting();
    const { driver, plane, first, second } = found;
    const { published, unpublish } = kubeletOf(t, driver);
    const volumes = found.shares.map((_, index) => volumeOf(found, `kept-${index}`, index));
    for (const volume of volumes) await published(volume);
    const [one] = volumes;
    assert.ok(one);
    assert.equal(statfsSync(one.target).type, tmpfsMagic, "the data is in memory only");
    await driver.kill();
    for (const { token } of volumes) assert.match(readFileSync(token, "utf8"), / v1$/);

    // A volume of the driver that is replaced: its mount, its files, its record.
    const old = volumeOf(found, "upstream-1");
    const anchor = `${old.namespace}-web-${old.id}`;
    mkdirSync(join(old.target, "files"), { recursive: true });
    await run("rmdir", [join(old.target, "files")]);
    assert.equal((await run("mount", ["-t", "tmpfs", anchor, old.target])).code, 0);
    mkdirSync(join(old.target, "..2024_01_01.1"));
    writeFileSync(join(old.target, "..2024_01_01.1", "token"), "of upstream");
    symlinkSync("..2024_01_01.1", join(old.target, "..data"));
    symlinkSync("..data/token", old.token);
    const record = {
      volID: old.id,
      volName: "web",
      volSize: 0,
      volPathAnchorDir: anchor,
      volPathBindMountDir: "",
      volAccessType: 16,
      targetPath: old.target,
      sharedDataKind: "Secret",
      sharedDataId: old.share,
      podNamespace: old.namespace,
      podName: "web",
      podUID: "u",
      podSA: "reader",
      refresh: true,
    };
    writeFileSync(join(driver.records, old.id), JSON.stringify(record));
    await driver.start();
    await reads(old.token, `${canary} 0 v1`);
    await updateSource(plane, { ...first, data: { token: `${canary} 0 v2` } });
    await updateSource(plane, { ...second, data: { token: `${canary} 1 v2` } });
    for (const [index, { token, target }] of volumes.entries()) {
      await reads(token, `${canary} ${index} v${index < 2 ? 2 : 1}`);
      assert.equal(existsSync(join(target, "extra")), index >= 2);
    }
    await reads(old.token, `${canary} 0 v2`);
    for (const volume of [...volumes, old]) {
      await unpublish(volume);
      await unpublish(volume);
    }
    nothingLeft(instance, driver);
  });

  test("an API server that does not answer takes nothing from mounted volumes, and nothing new is mounted", async (t) => {
    const found = await setting();
    const { driver, proxy } = found;
    const { publish, published, unpublish } = kubeletOf(t, driver);
    const volume = volumeOf(found, "outage-1", 2);
    await published(volume);
    const text = readFileSync(volume.token, "utf8");
    const other = volumeOf(found, "outage-2", 2, { serviceAccount: "someone-else" });
    await proxy.refuse(true);
    proxy.disconnect();
    const fault = await faultOf(publish(other));
    assert.equal(fault.code, "Unavailable");
    assert.match(fault.message, /cannot be mounted now, because the API server does not answer.*\[SNAP-705\]$/);
    // Two rounds of reviews fail meanwhile.
    const asked = (): number => driver.daemon().lastWords().split("cannot ask whether a share may be used").length;
    const before = asked();
    await until({ what: "two reviews have failed", msMax: 60_000 }, () => (asked() >= before + 2 ? true : undefined));
    assert.equal(readFileSync(volume.token, "utf8"), text);
    assert.equal(existsSync(other.target), false, "what is refused leaves nothing behind");
    await unpublish(volume);
    await proxy.refuse(false);
    nothingLeft(instance, driver);
  });

  test("one Secret that the driver may not read is refused, and blocks no other", async (t) => {
    const found = await setting();
    const { driver, plane, namespace } = found;
    const { publish, published, unpublish } = kubeletOf(t, driver);
    const locked = { name: `${namespace}-locked`, namespace, data: { token: canary } };
    await createShare(plane, locked);
    await letUse(plane, { share: locked.name, namespace });
    await revokeLetRead(plane, locked);
    const volume = volumeOf(found, "locked-1", 0, { share: locked.name });
    const refused = (): Promise<true> =>
      until({ what: "the Secret cannot be read" }, async () => {
        const fault = await faultOf(publish(volume));
        return fault.code === "PermissionDenied" && fault.message.includes("[SNAP-707]") ? true : undefined;
      });
    await refused();
    const others = [0, 1, 2, 3, 4].map((index) => volumeOf(found, `beside-${index}`, index));
    for (const other of others) await published(other);
    await refused();
    await letRead(plane, locked);
    await until({ what: "the Secret can be read" }, () =>
      publish(volume).then(
        () => true as const,
        () => undefined,
      ),
    );
    assert.equal(readFileSync(volume.token, "utf8"), canary);
    for (const one of [...others, volume]) await unpublish(one);
    nothingLeft(instance, driver);
  });

  test("R25, R48, R82: misuse is refused at the mount with the right code, and counted in the metrics over TLS, without a webhook", async (t) => {
    const found = await setting();
    const { driver, plane, namespace, overTls } = found;
    const { publish } = kubeletOf(t, driver);
    const reserved = { name: `openshift-${namespace}`, namespace, data: { token: canary } };
    await createShare(plane, reserved);
    await letUse(plane, { share: reserved.name, namespace });
    const cases: readonly { volume: VolumeRequest; code: string; says: RegExp }[] = [
      {
        volume: volumeOf(found, "writable", 0, { readOnly: false }),
        code: "InvalidArgument",
        says: /csi\.readOnly: must be true.*\[SNAP-151\]$/,
      },
      {
        volume: volumeOf(found, "reserved", 0, { share: reserved.name }),
        code: "InvalidArgument",
        says: /begins with openshift-.*\[SNAP-152\]$/,
      },
      {
        volume: volumeOf(found, "missing", 0, { share: "nobody-made-this" }),
        code: "InvalidArgument",
        says: /does not exist.*\[SNAP-702\]$/,
      },
      {
        volume: volumeOf(found, "denied", 0, { serviceAccount: "stranger" }),
        code: "PermissionDenied",
        says: /service account .*\/stranger .* may not use .*\[SNAP-704\]$/,
      },
    ];
    const counts = async (): Promise<{
      readonly requests: number;
      readonly failures: number;
      readonly text: string;
    }> => {
      const text = await overTls();
      const of = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN);
      return {
        requests: of("openshift_csi_share_mount_requests_total"),
        failures: of("openshift_csi_share_mount_failures_total"),
        text,
      };
    };
    await until({ what: "the reserved share is known" }, async () =>
      (await faultOf(publish(volumeOf(found, "reserved", 0, { share: reserved.name })))).message.includes("SNAP-152")
        ? true
        : undefined,
    );
    const before = await counts();
    for (const { volume, code, says } of cases) {
      const fault = await faultOf(publish(volume));
      assert.deepEqual([fault.code, existsSync(volume.target)], [code, false]);
      assert.match(fault.message, says);
      assert.ok(!fault.message.includes(canary));
    }
    const now = await counts();
    assert.deepEqual(
      [now.requests - before.requests, now.failures - before.failures],
      [cases.length, cases.length],
      "R52: each refusal is counted once",
    );
    assert.ok(!now.text.includes(canary));
    nothingLeft(instance, driver);
  });

  test("csi-sanity's specs for nodes and identities pass, as far as they apply to inline volumes", async (t) => {
    const { driver } = await setting();
    // csi-sanity asks a controller service for its capabilities before each spec; inline volumes have no such service.
    const controller = await startDriver(
      t,
      [
        serve(Controller, {
          controllerGetCapabilities: () => ({
            capabilities: [{ type: { case: "rpc", value: { type: Capability.PUBLISH_READONLY } } }],
          }),
        }),
      ],
      { address: join(instance.folder, "controller.sock") },
    );
    const specsOf = async (focus: string, ...flags: readonly string[]) => {
      const report = join(instance.folder, "report.json");
      const { stdout } = await run(sanity, [
        "--ginkgo.no-color",
        `--ginkgo.json-report=${report}`,
        `--ginkgo.focus=${focus}`,
        `--csi.endpoint=unix://${driver.socket}`,
        `--csi.mountdir=${join(instance.folder, "pods", "sanity")}`,
        `--csi.stagingdir=${join(instance.folder, "sanity-staging")}`,
        ...flags,
      ]);
      assert.ok(existsSync(report), stdout.slice(-2_000));
      const [suiteReport] = JSON.parse(readFileSync(report, "utf8")) as readonly {
        readonly SpecReports: readonly SpecReport[];
      }[];
      const specs = (suiteReport?.SpecReports ?? []).filter(({ LeafNodeType }) => LeafNodeType === "It");
      const failed = specs.filter(({ State }) => !["passed", "skipped", "pending"].includes(State));
      assert.deepEqual(
        failed.map(({ LeafNodeText, Failure }) => `${LeafNodeText}: ${Failure?.Message}`),
        [],
      );
      return specs.filter(({ State }) => State === "passed").length;
    };
    assert.equal(await specsOf("Identity Service"), 3);
    // One spec makes its volume by CreateVolume, which inline volumes do not have.
    const skip = "--ginkgo.skip=should remove target path";
    const passed = await specsOf("Node Service", `--csi.controllerendpoint=unix://${controller.path}`, skip);
    assert.ok(passed >= 7, String(passed));
  });

  test("no value of a Secret is in a log at the highest verbosity, an event, a record or a metric", async () => {
    const { driver, port, plane } = await setting();
    const logs = readdirSync(instance.folder).filter((name) => name.endsWith(".log"));
    assert.ok(logs.length > 0);
    for (const name of logs) {
      const text = readFileSync(join(instance.folder, name), "utf8");
      assert.ok(text.includes("csi call finished") || !name.startsWith("shared-resource"), name);
      for (const secret of [canary, Buffer.from(canary).toString("base64").slice(0, 12)])
        assert.ok(!text.includes(secret), `${name} holds ${secret}`);
    }
    const events = await plane.request("GET", "/api/v1/events");
    assert.equal(events.status, 200);
    assert.ok(!events.text.includes(canary));
    for (const name of readdirSync(driver.records))
      assert.ok(!readFileSync(join(driver.records, name), "utf8").includes(canary));
    assert.ok(!(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).includes(canary));
    assert.equal(lstatSync(driver.socket).mode & 0o777, 0o600);
  });
});
