/** The manifests of the upstream release on a real node: the images that they name hold the Go programs of the pinned modules. */
import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Cluster } from "./cluster.ts";
import { installCrdsOn } from "./crds.ts";
import { makeProgramImage } from "./image.ts";
import type { Driver } from "./snapshot-suites.ts";
import { tools } from "./tools.ts";
import { type Manifest, releaseFile, unthrottled, upstreamCrds } from "./upstream.ts";

/** At import, so that a build counts against no test's time. */
const programs = await tools("snapshot-controller", "csi-snapshotter", "csi-provisioner");

const files = [
  "snapshot-controller/rbac-snapshot-controller",
  "snapshot-controller/setup-snapshot-controller",
  "csi-snapshotter/rbac-csi-snapshotter",
  "csi-snapshotter/rbac-external-provisioner",
  "csi-snapshotter/setup-csi-snapshotter",
];

interface Pod {
  containers: { readonly name: string; readonly image: string; readonly args: string[] }[];
  volumes?: object[];
}
interface Workload extends Manifest {
  readonly spec: { readonly template: { readonly spec: Pod } };
}
const podsOf = (objects: readonly Manifest[]): readonly Pod[] =>
  objects
    .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    .map((object) => (object as Workload).spec.template.spec);

export interface ReleasePods {
  /** Everything but the CRDs. */
  remove(): Promise<void>;
}

/**
 * What would make everything wait: the limits of requests; the lease, which upstream's controller does not release when it ends; and
 * calls without a reply, which our sidecars wait for when they are stopped.
 */
const moreFlags: Readonly<Record<string, readonly string[]>> = {
  "snapshot-controller": [
    "--leader-election-lease-duration=8s",
    "--leader-election-renew-deadline=6s",
    "--leader-election-retry-period=1s",
  ],
  "csi-snapshotter": ["--timeout=3s"],
};

/**
 * The example driver of the manifests keeps its data in its own container, and loses it with the pod: the sidecars get the socket of
 * this driver instead. Beside that only some flags are added.
 */
export async function installReleasePods({ node, plane, kubectl }: Cluster, { socket }: Driver): Promise<ReleasePods> {
  const must = async (args: readonly string[], objects: readonly Manifest[]): Promise<void> => {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    const { code, stderr } = await kubectl([...args, "-f", "-"], { input, msMax: 120_000 });
    assert.equal(code, 0, stderr);
  };
  const objects = (await Promise.all(files.map((file) => releaseFile(`deploy/kubernetes/${file}.yaml`)))).flat();
  symlinkSync(basename(socket), join(dirname(socket), "csi.sock"));
  for (const pod of podsOf(objects)) {
    pod.containers = pod.containers.filter(({ name }) => name in programs);
    if (pod.volumes !== undefined) pod.volumes = [{ name: "socket-dir", hostPath: { path: dirname(socket) } }];
    for (const { name, image, args } of pod.containers) {
      args.push(...unthrottled, ...(moreFlags[name] ?? []));
      await node.importImage(makeProgramImage(node.folder, image, programs[name as keyof typeof programs]));
    }
  }
  // Those of another suite stay: both makers' components work with either.
  await installCrdsOn(plane, await upstreamCrds());
  await must(["apply"], objects);
  return { remove: () => must(["delete", "--ignore-not-found", "--wait=true"], objects) };
}
