/** The life of a volume as a user sees it: claim, pod that writes, snapshot, restore, pod that reads. All by plain requests. */
import assert from "node:assert/strict";
import type { Cluster } from "./cluster.ts";
import { createPod, deletePod, runPod, waitForPod } from "./pods.ts";
import { until } from "./until.ts";

const snapshots = "/apis/snapshot.storage.k8s.io/v1";
const minuteMs = 60_000;

export interface VolumeLife {
  createClaim(name: string, snapshot?: string): Promise<void>;
  /** A pod on a node that starts before its claim is bound waits ten seconds until kubelet tries again. */
  untilBound(name: string): Promise<void>;
  takeSnapshot(name: string, claim: string): Promise<void>;
  remove(): Promise<void>;
}

/** With the classes of the directory-driver. */
export function volumeLifeIn({ plane }: Pick<Cluster, "plane">, namespace: string): VolumeLife {
  const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
  const own = `${snapshots}/namespaces/${namespace}/volumesnapshots`;
  const post = async (path: string, body: object) => {
    const { status, text } = await plane.request("POST", path, body);
    assert.equal(status, 201, text);
  };
  const itemsAt = async (path: string): Promise<readonly { readonly metadata: { readonly name: string } }[]> => {
    const { status, text } = await plane.request("GET", path);
    return status === 200 ? JSON.parse(text).items : [];
  };
  return {
    createClaim: (name, snapshot) =>
      post(claims, {
        metadata: { name },
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "directory",
          resources: { requests: { storage: "1Mi" } },
          ...(snapshot === undefined
            ? {}
            : { dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot } }),
        },
      }),
    untilBound: async (name) => {
      await until({ what: `claim ${name} is bound`, msMax: 2 * minuteMs }, async () => {
        const { text } = await plane.request("GET", `${claims}/${name}`);
        return JSON.parse(text).status?.phase === "Bound" ? true : undefined;
      });
    },
    takeSnapshot: async (name, claim) => {
      const spec = { volumeSnapshotClassName: "directory", source: { persistentVolumeClaimName: claim } };
      await post(own, { apiVersion: "snapshot.storage.k8s.io/v1", kind: "VolumeSnapshot", metadata: { name }, spec });
      await until({ what: `snapshot ${name} is ready`, msMax: 2 * minuteMs }, async () => {
        const { text } = await plane.request("GET", `${own}/${name}`);
        return JSON.parse(text).status?.readyToUse === true ? true : undefined;
      });
    },
    remove: async () => {
      for (const path of [own, claims])
        for (const { metadata } of await itemsAt(path)) await plane.request("DELETE", `${path}/${metadata.name}`);
      const everywhere = [own, claims, `${snapshots}/volumesnapshotcontents`, "/api/v1/persistentvolumes"];
      await until({ what: "snapshots, claims and volumes are gone", msMax: 2 * minuteMs }, async () => {
        for (const path of everywhere) if ((await itemsAt(path)).length > 0) return undefined;
        return true;
      });
    },
  };
}

/** Bytes go to a claim, into a snapshot, to a second claim and back to a pod; then everything is deleted. */
export async function livesThroughSnapshot(cluster: Cluster, namespace: string): Promise<void> {
  const { node, kubectl } = cluster;
  const life = volumeLifeIn(cluster, namespace);
  const podWith = (name: string, claimName: string, script: string) => ({
    name,
    namespace,
    script,
    volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  });
  const writer = podWith("writer", "source", "sleep 1000000");
  const write = async (text: string): Promise<void> => {
    const command = ["exec", "-n", namespace, writer.name, "--", "sh", "-c", `printf ${text} > /data/file`];
    const { code, stderr } = await kubectl(command);
    assert.equal(code, 0, stderr);
  };
  await life.createClaim("source");
  await life.untilBound("source");
  await createPod(node, writer);
  await waitForPod(node, writer, "Running");
  await write("first");
  await life.takeSnapshot("taken", "source");
  await write("later");
  await life.createClaim("restored", "taken");
  await life.untilBound("restored");
  const reader = podWith("reader", "restored", "cat /data/file");
  const [{ message }] = await Promise.all([runPod(node, reader), deletePod(node, writer)]);
  assert.equal(message, "first");
  await life.remove();
}
