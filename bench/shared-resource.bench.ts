/** 1,000 volumes of 5 shares by 10 service accounts on one node: real mounts, a real API server, the driver's release bundle. */
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeServiceAccount } from "../src/api/manifests/shared-resource.ts";
import { csiClientTo } from "../test/e2e/harness/components.ts";
import { startControlPlane } from "../test/e2e/harness/control-plane.ts";
import { createInstance } from "../test/e2e/harness/instance.ts";
import { mountsUnder } from "../test/e2e/harness/mounts.ts";
import {
  createShare,
  driverKubeconfig,
  installShares,
  letUse,
  publishRequest,
  type ShareRequest,
  startShareDriver,
  updateSource,
  type VolumeRequest,
} from "../test/e2e/harness/share-driver.ts";
import { newNamespace } from "../test/e2e/harness/shared.ts";
import { until } from "../test/e2e/harness/until.ts";
import { quantile } from "../test/quantile.ts";
import { buildBundle } from "./support/contestants.ts";
import { pssMibOf, usageOf } from "./support/usage.ts";

const accounts = 10;
const shareCount = 5;
const idleMs = 60_000;
/** So many volumes are asked for at the same time, as when a node is drained onto another. */
const atOnce = 4;
const bundle = resolve(import.meta.dirname, "../dist/snapkeep.js");

export async function run(options: ReadonlyMap<string, string>): Promise<void> {
  const count = options.has("--quick") ? 100 : 1_000;
  buildBundle();
  const plane = await startControlPlane();
  const instance = createInstance();
  try {
    await installShares(plane);
    const namespace = await newNamespace(plane, "bench");
    const shares = Array.from(
      { length: shareCount },
      (_, index): ShareRequest => ({
        name: `share-${index}`,
        namespace,
        data: { token: "v1", certificate: "x".repeat(2_000), key: "y".repeat(2_000) },
      }),
    );
    for (const share of shares) {
      await createShare(plane, share);
      for (let account = 0; account < accounts; account++)
        await letUse(plane, { share: share.name, namespace, serviceAccount: `account-${account}` });
    }
    const driver = await startShareDriver(instance, {
      kubeconfig: await driverKubeconfig(plane),
      program: ["--max-semi-space-size=4", bundle],
      flags: ["-v=0"],
    });
    const { node, close } = csiClientTo(driver.socket);
    const volumes = Array.from({ length: count }, (_, index): VolumeRequest => {
      const target = join(instance.folder, "pods", `v-${index}`, "mount");
      mkdirSync(join(target, ".."), { recursive: true });
      const share = `share-${index % shareCount}`;
      return {
        id: `v-${index}`,
        target,
        namespace,
        share,
        serviceAccount: `account-${Math.floor(index / 5) % accounts}`,
      };
    });
    const publish = (volume: VolumeRequest) => node.nodePublishVolume(publishRequest(volume));
    const [first] = volumes;
    if (first === undefined) throw new Error("there is no volume");
    // The caches are filled a moment after the socket is there.
    await until({ what: "the first volume is published" }, () =>
      publish(first).then(
        () => true as const,
        () => undefined,
      ),
    );
    await node.nodeUnpublishVolume({ volumeId: first.id, targetPath: first.target });
    const { pid } = driver.daemon();
    const before = { pss: pssMibOf(pid), cpu: usageOf(pid).cpuSeconds };
    const publishing = await timed(volumes, publish);
    const after = { pss: pssMibOf(pid), cpu: usageOf(pid).cpuSeconds };
    console.log(`publish, ${count} volumes, ${atOnce} at a time: ${publishing.text}`);
    console.log(
      `  processor time ${(((after.cpu - before.cpu) * 1000) / count).toFixed(1)} ms per volume, with mount(8)`,
    );
    console.log(
      `memory (PSS) ${before.pss.toFixed(1)} MiB without volumes, ${after.pss.toFixed(1)} MiB with ${count}: ${(((after.pss - before.pss) * 1024) / count).toFixed(1)} KiB per volume`,
    );

    const idleCpu = usageOf(pid).cpuSeconds;
    const position = plane.auditPosition();
    await sleep(idleMs);
    const asked = plane.auditLog(position).filter(({ user }) => user.username.endsWith(`:${nodeServiceAccount}`));
    const byVerb = new Map<string, number>();
    for (const { verb, objectRef } of asked) {
      const what = `${verb} ${objectRef?.resource ?? ""}`;
      byVerb.set(what, (byVerb.get(what) ?? 0) + 1);
    }
    console.log(
      `idle for a minute: ${asked.length} API requests (${[...byVerb].map(([what, times]) => `${times} ${what}`).join(", ")}), ${(usageOf(pid).cpuSeconds - idleCpu).toFixed(2)} s of processor time, PSS ${pssMibOf(pid).toFixed(1)} MiB`,
    );

    const [share] = shares;
    if (share === undefined) throw new Error("there is no share");
    const ofShare = volumes.filter(({ share: name }) => name === share.name);
    const startedAt = performance.now();
    await updateSource(plane, { ...share, data: { ...share.data, token: "v2" } });
    await until({ what: "all volumes show the update", everyMs: 5 }, () =>
      ofShare.every(({ target }) => readFileSync(join(target, "token"), "utf8") === "v2") ? true : undefined,
    );
    console.log(
      `update of one Secret seen by all ${ofShare.length} volumes after ${Math.round(performance.now() - startedAt)} ms`,
    );

    const unpublishing = await timed(volumes, ({ id, target }) =>
      node.nodeUnpublishVolume({ volumeId: id, targetPath: target }),
    );
    console.log(`unpublish: ${unpublishing.text}`);
    console.log(`left behind: ${mountsUnder(join(instance.folder, "pods")).length} mounts`);
    close();
  } finally {
    instance.stop();
    plane.stop();
  }
}

async function timed(volumes: readonly VolumeRequest[], call: (volume: VolumeRequest) => Promise<unknown>) {
  const tookMs: number[] = [];
  const waiting = [...volumes];
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    for (let volume = waiting.shift(); volume !== undefined; volume = waiting.shift()) {
      const callAt = performance.now();
      await call(volume);
      tookMs.push(performance.now() - callAt);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const perSecond = volumes.length / ((performance.now() - startedAt) / 1000);
  const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)];
  return { text: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${perSecond.toFixed(0)} per second` };
}
