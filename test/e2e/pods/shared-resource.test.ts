/** Volumes of shares in real pods, and on real tmpfs: what the kubelet does with the driver, and what a restart leaves of it. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { createInstance } from "../harness/instance.ts";
import { mountsUnder } from "../harness/mounts.ts";
import type { Node } from "../harness/node.ts";
import { createPod, deletePod, readPod, waitForPod } from "../harness/pods.ts";
import { freePort } from "../harness/ports.ts";
import {
  createShare,
  deleteShare,
  deleteSource,
  letUse,
  revokeUse,
  type ShareDriver,
  shareVolumeOf,
  startRegisteredShareDriver,
  updateSource,
} from "../harness/share-driver.ts";
import { newNamespace } from "../harness/shared.ts";
import { useNode } from "../harness/shared-node.ts";
import { until } from "../harness/until.ts";

const canary = "canary-91e4-of-a-pod";

/** One line for each thing that the pod sees, in a volume that the test can read. */
const script = `
note() { echo "$*" >> /out/log; }
note read "$(cat /share/token)"
note mode "$(stat -L -c '%a %g' /share/token)" "$(stat -L -c '%a' /share/..data)"
note mounted "$(grep ' /share ' /proc/mounts | cut -d' ' -f3)" "$(grep ' /share ' /proc/mounts | cut -d' ' -f4 | cut -d, -f1)"
note "$(touch /share/new 2>&1 | grep -o 'Read-only file system')"
until [ "$(cat /share/token 2>/dev/null)" = v2 ]; do usleep 50000; done
note updated "$(stat -L -c '%a %g' /share/token)"
until [ -z "$(ls -A /share)" ]; do usleep 50000; done
note gone "$(ls -A /share | wc -l)"
until [ -e /share/token ]; do usleep 50000; done
note back "$(cat /share/token)"
sleep 600
`;

/**
 * Reads whole sets of files: what lies in one folder, if that was the current one before and after. Each file says its version, which
 * says how many files there are.
 */
const setReader = `
while [ ! -e /out/stop ]; do
  folder=$(readlink /share/..data)
  set -- $(cat /share/$folder/* 2>/dev/null)
  [ "$(readlink /share/..data)" = "$folder" ] || continue
  version=$1
  echo $version >> /out/versions
  for one in "$@"; do [ "$one" = "$version" ] || echo "a mix: $*" >> /out/wrong; done
  [ $# -eq $((3 + version % 4)) ] || echo "not all: $*" >> /out/wrong
done
touch /out/done
`;
const setOf = (version: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: 3 + (version % 4) }, (_, key) => [`key-${key}`, `${version}\n`]));

/** A key may be as long as this, and begin like an option. */
const longKey = "-".padEnd(253, "k");
/** Holds what it can hold: an open file, and a file mounted by subPath. */
const holder = `
note() { echo "$*" >> /out/log; }
exec 3< /share/token
note held "$(cat /sub)" "$(cat ./share/${longKey})"
until [ "$(cat /share/token 2>/dev/null)" = v2 ]; do usleep 50000; done
exec 4< /share/token
note updated "$(cat /sub)"
until [ -z "$(ls -A /share)" ]; do usleep 50000; done
note gone "[$(cat /sub)]" "[$(cat <&3)]" "[$(cat <&4)]"
sleep 600
`;

suite("volumes of shares", () => {
  const instance = createInstance();
  after(instance.stop);
  let started: Promise<ShareDriver> | undefined;
  let port = 0;
  const useDriver = async (node: Node): Promise<ShareDriver> => {
    port ||= await freePort();
    started ??= startRegisteredShareDriver(node, instance, [`--http-endpoint=127.0.0.1:${port}`]);
    return started;
  };
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const countOf = (text: string, metric: string): number =>
    Number(new RegExp(`^${metric} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN);

  test("R73: a pod reads a share's bytes from a read-only tmpfs, sees updates, and loses them with permission, source or share", async (t) => {
    const node = await useNode();
    const { plane } = node;
    const driver = await useDriver(node);
    const namespace = await newNamespace(plane, "share");
    const share = { name: "first", namespace, data: { token: "v1", other: canary } };
    await createShare(plane, share);
    const pod = {
      name: "reader",
      namespace,
      script,
      serviceAccountName: "reader",
      securityContext: { runAsUser: 1000, fsGroup: 2000 },
      volumes: [{ name: "out", emptyDir: {} }, shareVolumeOf("share", { name: "first" })],
      volumeMounts: [
        { name: "out", mountPath: "/out" },
        { name: "share", mountPath: "/share" },
      ],
    };
    const use = { share: "first", namespace };
    await createPod(node, pod);
    t.after(() => deletePod(node, pod));
    const { metadata } = (await readPod(node, namespace, pod.name)) ?? assert.fail("there is no pod");
    const folder = join(node.rootDir, "pods", metadata.uid, "volumes");
    const token = join(folder, "kubernetes.io~csi/share/mount/token");
    const seen = (line: string): Promise<true> =>
      until({ what: `the pod notes "${line}"`, msMax: 60_000 }, () => {
        const log = join(folder, "kubernetes.io~empty-dir/out/log");
        return existsSync(log) && readFileSync(log, "utf8").split("\n").includes(line) ? true : undefined;
      });
    const events = async (): Promise<string> =>
      (await plane.request("GET", `/api/v1/namespaces/${namespace}/events`)).text;
    await until({ what: "the kubelet reports the missing permission" }, async () =>
      /service account [^ ]+\/reader of pod [^ ]+\/reader may not use SharedSecret first.*SNAP-704/.test(await events())
        ? true
        : undefined,
    );
    assert.equal(existsSync(token), false);
    await letUse(plane, use);
    await waitForPod(node, pod, "Running");
    await until({ what: "the volume is mounted" }, () => (existsSync(token) ? true : undefined));

    const within = async (what: string, there: boolean): Promise<void> => {
      const startedAt = performance.now();
      await until({ what, msMax: 30_000, everyMs: 20 }, () => (existsSync(token) === there ? true : undefined));
      const tookMs = performance.now() - startedAt;
      assert.ok(tookMs < 10_000, `${what}: took ${tookMs} ms`);
    };
    for (const line of ["read v1", "mode 644 2000 755", "mounted tmpfs ro", "Read-only file system"]) await seen(line);
    await updateSource(plane, { ...share, data: { token: "v2" } });
    await seen("updated 644 2000");
    assert.equal(existsSync(join(token, "../other")), false, "a key that is gone from the Secret");
    await revokeUse(plane, use);
    await within("the content is gone after the permission", false);
    await seen("gone 0");
    await letUse(plane, use);
    await within("the content is back with the permission", true);
    await seen("back v2");
    await deleteSource(plane, share);
    await within("the content is gone with the Secret", false);
    await createShare(plane, share);
    await within("the content is back with the Secret", true);
    await deleteShare(plane, share);
    await within("the content is gone with the share", false);
    assert.equal(readdirSync(driver.records).length, 1);
    await deletePod(node, pod);
    const reported = await events();
    assert.match(reported, /"reason":"FailedMount"/);
    assert.ok(![canary, Buffer.from(canary).toString("base64")].some((value) => reported.includes(value)));
    assert.deepEqual(mountsUnder(join(node.rootDir, "pods", metadata.uid)), []);
    await until({ what: "the record is gone" }, () => (readdirSync(driver.records).length === 0 ? true : undefined));
  });

  for (const kind of ["SharedSecret", "SharedConfigMap"] as const)
    test(`a pod loses a ${kind}'s bytes when what it refers to is deleted, also in open files and by subPath, whatever its keys are named, and ends`, async (t) => {
      const node = await useNode();
      const { plane } = node;
      const driver = await useDriver(node);
      const namespace = await newNamespace(plane, "held");
      const share = { kind, name: `held-${namespace}`, namespace, data: { token: "v1", [longKey]: "v1" } };
      await createShare(plane, share);
      await letUse(plane, { kind, share: share.name, namespace });
      const pod = {
        name: "holder",
        namespace,
        script: holder,
        serviceAccountName: "reader",
        volumes: [{ name: "out", emptyDir: {} }, shareVolumeOf("share", share)],
        volumeMounts: [
          { name: "out", mountPath: "/out" },
          { name: "share", mountPath: "/share" },
          { name: "share", mountPath: "/sub", subPath: "token" },
        ],
      };
      await createPod(node, pod);
      t.after(() => deletePod(node, pod));
      await waitForPod(node, pod, "Running");
      const { metadata } = (await readPod(node, namespace, pod.name)) ?? assert.fail("there is no pod");
      const folder = join(node.rootDir, "pods", metadata.uid);
      const log = join(folder, "volumes/kubernetes.io~empty-dir/out/log");
      const noted = (lines: readonly string[]): Promise<true> =>
        until({ what: `the pod notes "${lines.at(-1)}"` }, () =>
          existsSync(log) && readFileSync(log, "utf8") === lines.map((line) => `${line}\n`).join("") ? true : undefined,
        );
      await noted(["held v1 v1"]);
      await updateSource(plane, { ...share, data: { token: "v2", [longKey]: "v2" } });
      await noted(["held v1 v1", "updated v1"]);
      await deleteSource(plane, share);
      await noted(["held v1 v1", "updated v1", "gone [] [] []"]);
      await deletePod(node, pod);
      assert.deepEqual(mountsUnder(folder), []);
      await until({ what: "the record is gone" }, () => (readdirSync(driver.records).length === 0 ? true : undefined));
    });

  test("a pod that loops while its share changes 1,000 times sees the old set of files or the new one, never a mix", async (t) => {
    const node = await useNode();
    const { plane } = node;
    await useDriver(node);
    const namespace = await newNamespace(plane, "swaps");
    const share = { name: namespace, namespace };
    await createShare(plane, { ...share, data: setOf(0) });
    await letUse(plane, { share: share.name, namespace });
    const pod = {
      name: "reader",
      namespace,
      script: setReader,
      serviceAccountName: "reader",
      volumes: [{ name: "out", emptyDir: {} }, shareVolumeOf("share", share)],
      volumeMounts: ["out", "share"].map((name) => ({ name, mountPath: `/${name}` })),
    };
    await createPod(node, pod);
    t.after(() => deletePod(node, pod));
    await waitForPod(node, pod, "Running");
    const { metadata } = (await readPod(node, namespace, pod.name)) ?? assert.fail("there is no pod");
    const folder = join(node.rootDir, "pods", metadata.uid, "volumes");
    const out = join(folder, "kubernetes.io~empty-dir/out");
    const data = join(folder, "kubernetes.io~csi/share/mount/..data");
    await until({ what: "the pod reads" }, () => (existsSync(join(out, "versions")) ? true : undefined));
    for (let version = 1; version <= 1_000; version++) {
      const before = readlinkSync(data);
      await updateSource(plane, { ...share, data: setOf(version) });
      await until({ what: `the set is swapped for version ${version}`, everyMs: 1 }, () =>
        readlinkSync(data) === before ? undefined : true,
      );
    }
    writeFileSync(join(out, "stop"), "");
    await until({ what: "the reader has ended" }, () => (existsSync(join(out, "done")) ? true : undefined));
    const wrong = join(out, "wrong");
    assert.equal(existsSync(wrong) ? readFileSync(wrong, "utf8") : "", "");
    const seen = new Set(readFileSync(join(out, "versions"), "utf8").trim().split("\n"));
    assert.ok(seen.size > 10, `the pod has seen ${seen.size} versions`);
  });

  test("R54, R55, R60, R82: without a webhook, pods with a writable volume or a share with a reserved name do not start, and the driver counts both", async (t) => {
    const node = await useNode();
    const { plane } = node;
    await useDriver(node);
    const namespace = await newNamespace(plane, "misuse");
    const shares = { mine: { name: namespace, namespace }, reserved: { name: `openshift-${namespace}`, namespace } };
    for (const share of Object.values(shares)) {
      await createShare(plane, { ...share, data: { token: canary } });
      await letUse(plane, { share: share.name, namespace });
    }
    const readOnly = shareVolumeOf("share", shares.mine);
    const cases = [
      {
        name: "writable",
        volume: { ...readOnly, csi: { ...(readOnly.csi as JsonObject), readOnly: false } },
        code: "SNAP-151",
      },
      { name: "reserved", volume: shareVolumeOf("share", shares.reserved), code: "SNAP-152" },
    ];
    const before = await metrics();
    for (const { name, volume, code } of cases) {
      const pod = { name, namespace, script: "sleep 600", serviceAccountName: "reader", volumes: [volume] };
      await createPod(node, { ...pod, volumeMounts: [{ name: "share", mountPath: "/share" }] });
      t.after(() => deletePod(node, pod));
      const path = `/api/v1/namespaces/${namespace}/events?fieldSelector=reason=FailedMount,involvedObject.name=${name}`;
      const reported = await until({ what: `the kubelet reports ${code}` }, async () => {
        const { text } = await plane.request("GET", path);
        return text.includes(`[${code}]`) ? text : undefined;
      });
      assert.match(reported, /code = InvalidArgument/);
      assert.ok(!reported.includes(canary));
      assert.notEqual((await readPod(node, namespace, name))?.status?.phase, "Running");
    }
    const now = await metrics();
    for (const check of ["pod_readonly", "sharedsecret_reserved_name"]) {
      const metric = `openshift_csi_share_${check}_failures_controller_total`;
      assert.ok(countOf(now, metric) > countOf(before, metric), metric);
    }
  });
});
