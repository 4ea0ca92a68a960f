/** A driver that is killed and started again under fifty volumes of running pods. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { createInstance } from "../harness/instance.ts";
import { mountLinesUnder, mountsUnder } from "../harness/mounts.ts";
import type { Node } from "../harness/node.ts";
import { createPod, deletePod, readPod, waitForPod } from "../harness/pods.ts";
import {
  createShare,
  letUse,
  revokeUse,
  type ShareRequest,
  shareDriverName,
  shareVolumeOf,
  startRegisteredShareDriver,
  updateSource,
} from "../harness/share-driver.ts";
import { newNamespace } from "../harness/shared.ts";
import { useNode } from "../harness/shared-node.ts";
import { driversOf } from "../harness/static-claims.ts";
import { until } from "../harness/until.ts";
import { createTestWebhook } from "../harness/webhook.ts";

const podCount = 5;
const volumesPerPod = 10;

/**
 * Goes through all volumes again and again, and shows the number of the pass with what it has read. A second try, because a file may
 * be swapped between the look-up of its folder and its own.
 */
const script = `
pass=0
while :; do
  pass=$((pass + 1))
  line=$pass
  for volume in $(seq 0 ${volumesPerPod - 1}); do
    token=$(cat /share-$volume/token 2>/dev/null || cat /share-$volume/token 2>/dev/null || echo missing)
    line="$line $token"
  done
  case "$line" in *missing*) echo "$line" >> /out/missing;; esac
  echo "$line" > /out/new
  mv /out/new /out/seen
  usleep 100000
done
`;

suite("volumes of shares and restarts of their driver", () => {
  test("R81: 50 volumes of running pods outlive kill -9 of the driver, follow their shares after its restart, and notice no webhook", async (t) => {
    const node = await useNode();
    const { plane } = node;
    const instance = createInstance();
    const driver = await startRegisteredShareDriver(node, instance);
    const namespace = await newNamespace(plane, "restart");
    const shares = Array.from({ length: 5 }, (_, index) => shareIn(namespace, index));
    for (const share of shares) {
      await createShare(plane, share);
      await letUse(plane, { ...share, share: share.name });
    }
    const deletePods = () => Promise.all(podNames.map((name) => deletePod(node, { name, namespace })));
    // The kubelet needs the driver to let the pods go.
    t.after(() => deletePods().finally(instance.stop));
    const folders = await startPods(node, namespace, shares);
    const outOf = (folder: string, file: string): string => {
      const path = join(folder, "volumes/kubernetes.io~empty-dir/out", file);
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    };
    const lastPass = (folder: string): { readonly pass: number; readonly tokens: string } => {
      const [pass = "", ...tokens] = outOf(folder, "seen").trim().split(" ");
      return { pass: Number(pass), tokens: tokens.join(" ") };
    };
    /** In every pod, a pass that begins after this call. */
    const allHaveRead = async (when: string, versions: readonly string[]): Promise<void> => {
      const tokens = Array.from({ length: volumesPerPod }, (_, index) => versions[index % versions.length]).join(" ");
      const before = new Map(folders.map((folder) => [folder, lastPass(folder).pass]));
      for (const folder of folders)
        await until({ what: `${folder} reads ${tokens} ${when}; it has read ${lastPass(folder).tokens}` }, () => {
          const last = lastPass(folder);
          return last.pass > (before.get(folder) ?? 0) + 1 && last.tokens === tokens ? true : undefined;
        });
    };
    const mounts = (): readonly string[] => folders.flatMap((folder) => mountLinesUnder(volumesIn(folder)));
    const first = ["0.v1", "1.v1", "2.v1", "3.v1", "4.v1"];
    await allHaveRead("before the kill", first);
    const mountedBefore = mounts();
    assert.equal(mountedBefore.length, podCount * volumesPerPod);
    assert.equal(readdirSync(driver.records).length, podCount * volumesPerPod);

    await driver.kill();
    await allHaveRead("without a driver", first);
    // What happens meanwhile is seen after the restart.
    await updateSource(plane, shareIn(namespace, 0, "v2"));
    await allHaveRead("still without a driver", first);
    await driver.start();
    await allHaveRead("after the restart", ["0.v2", ...first.slice(1)]);
    assert.deepEqual(mounts(), mountedBefore, "the very same mounts");
    for (const index of shares.keys()) await updateSource(plane, shareIn(namespace, index, "v3"));
    const third = ["0.v3", "1.v3", "2.v3", "3.v3", "4.v3"];
    await allHaveRead("after an update", third);

    const webhook = await createTestWebhook(plane);
    t.after(() => webhook.unconfigure("shares").then(webhook.stop));
    await webhook.start();
    await webhook.configure("shares", "Ignore");
    await allHaveRead("with a webhook", third);
    await webhook.stop();
    await allHaveRead("with a webhook that is down", third);
    assert.deepEqual(
      folders.map((folder) => outOf(folder, "missing")),
      folders.map(() => ""),
      "no file was ever missing",
    );
    assert.deepEqual(mounts(), mountedBefore);

    await deletePods();
    for (const folder of folders) assert.deepEqual(mountsUnder(folder), []);
    await until({ what: "the records are gone" }, () => (readdirSync(driver.records).length === 0 ? true : undefined));
  });

  test("volumes of shares outlive a restart of the kubelet, follow their shares without it, and go with their pods after it", async (t) => {
    const node = await useNode();
    const { plane } = node;
    const instance = createInstance();
    const driver = await startRegisteredShareDriver(node, instance);
    const namespace = await newNamespace(plane, "kubelet");
    const share = shareIn(namespace, 0);
    const use = { ...share, share: share.name };
    await createShare(plane, share);
    await letUse(plane, use);
    const pods = ["before", "after"].map((name) => ({
      name,
      namespace,
      script: "sleep 1000000",
      serviceAccountName: "reader",
      volumes: [shareVolumeOf("share", share)],
      volumeMounts: [{ name: "share", mountPath: "/share" }],
    }));
    const [first, second] = pods as [(typeof pods)[number], (typeof pods)[number]];
    t.after(() => Promise.all(pods.map((pod) => deletePod(node, pod))).finally(instance.stop));
    const volumeOf = async ({ name }: { readonly name: string }): Promise<string> => {
      const { uid } = (await readPod(node, namespace, name))?.metadata ?? assert.fail(`there is no pod ${name}`);
      return join(volumesIn(join(node.rootDir, "pods", uid)), "share/mount");
    };
    const shows = (volume: string, version: string | undefined) =>
      until({ what: `${volume} shows ${version ?? "nothing"}` }, () => {
        const path = join(volume, "token");
        return (existsSync(path) ? readFileSync(path, "utf8") : undefined) === version ? true : undefined;
      });
    await createPod(node, first);
    await waitForPod(node, first, "Running");
    const volume = await volumeOf(first);
    await shows(volume, "0.v1");
    const mountedBefore = mountLinesUnder(volume);

    const restarting = node.restartKubelet();
    await updateSource(plane, shareIn(namespace, 0, "v2"));
    await shows(volume, "0.v2");
    await restarting;
    await until({ what: "the kubelet knows the driver again" }, async () =>
      (await driversOf(node)).includes(shareDriverName) ? true : undefined,
    );
    assert.equal((await readPod(node, namespace, first.name))?.status?.phase, "Running", "the pod was not replaced");
    assert.deepEqual(mountLinesUnder(volume), mountedBefore, "the very same mount");
    await createPod(node, second);
    await waitForPod(node, second, "Running");
    const other = await volumeOf(second);
    for (const one of [volume, other]) await shows(one, "0.v2");
    await revokeUse(plane, use);
    for (const one of [volume, other]) await shows(one, undefined);
    for (const pod of pods) await deletePod(node, pod);
    for (const one of [volume, other]) assert.deepEqual(mountLinesUnder(one), []);
    await until({ what: "the records are gone" }, () => (readdirSync(driver.records).length === 0 ? true : undefined));
  });
});

const podNames = Array.from({ length: podCount }, (_, index) => `many-${index}`);
const volumesIn = (folder: string): string => join(folder, "volumes/kubernetes.io~csi");

const shareIn = (namespace: string, index: number, version = "v1"): ShareRequest => ({
  kind: index % 2 === 0 ? "SharedSecret" : "SharedConfigMap",
  name: `${namespace}-${index}`,
  namespace,
  data: { token: `${index}.${version}` },
});

/** Each pod has each share twice. Returns the kubelet's folders of the running pods. */
async function startPods(node: Node, namespace: string, shares: readonly ShareRequest[]): Promise<readonly string[]> {
  const names = Array.from({ length: volumesPerPod }, (_, index) => `share-${index}`);
  const volumes = names.map((name, index) => shareVolumeOf(name, shares[index % shares.length] as ShareRequest));
  const start = async (name: string): Promise<string> => {
    const pod = {
      name,
      namespace,
      script,
      serviceAccountName: "reader",
      volumes: [{ name: "out", emptyDir: {} }, ...volumes],
      volumeMounts: ["out", ...names].map((volume) => ({ name: volume, mountPath: `/${volume}` })),
    };
    await createPod(node, pod);
    await waitForPod(node, pod, "Running");
    const { metadata } = (await readPod(node, namespace, name)) ?? assert.fail("there is no pod");
    return join(node.rootDir, "pods", metadata.uid);
  };
  return Promise.all(podNames.map(start));
}
