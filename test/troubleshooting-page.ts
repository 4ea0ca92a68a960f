/** What the four commands print of one cluster: the blocks of docs/guides/troubleshooting.md. */
import { snapshotCrds } from "../src/api/crds/index.ts";
import { type KindName, kindRows } from "../src/api/kinds.ts";
import { createApiServer, kubeconfigText, volumeBinder } from "../src/apiserver/index.ts";
import { keyIn } from "../src/base/brand.ts";
import { silent } from "../src/base/log.ts";
import { realWorld, type World } from "../src/base/world.ts";
import { commands } from "../src/cli/commands.ts";
import { runCommandLine } from "../src/cli/run.ts";
import { overHttp } from "../src/runtime/serve.ts";
import * as cluster from "./explain/cluster.ts";

export const shownCommands = [
  "snapkeep status",
  "snapkeep explain vs/monday --namespace=team",
  "snapkeep timeline vs/monday --namespace=team",
  "snapkeep what-if delete vs/sunday --namespace=team",
] as const;

/** The pool is full since twelve minutes; the snapshot of the day before is ready, and a claim is to be restored from the new one. */
function objects(): readonly cluster.ClusterObject[] {
  const message =
    'Failed to create snapshot: failed to take snapshot of the volume vol-1: "pool is full"; repair the driver or its storage; csi-snapshotter tries again [SNAP-501]';
  const error = { message, time: cluster.ago(720) };
  const place = (object: cluster.ClusterObject, name: string, metadata: object = {}): cluster.ClusterObject =>
    ({ ...object, metadata: { ...object.metadata, name, ...metadata } }) as cluster.ClusterObject;
  const sundayUid = "uid-sunday";
  const sundayContent = `snapcontent-${sundayUid}`;
  return cluster.clusterWith([
    cluster.snapshot(
      cluster.ofClaim,
      { status: { ...cluster.bound, error } },
      { ...cluster.protectedBy, creationTimestamp: cluster.ago(730) },
    ),
    cluster.content({ error, readyToUse: false }, { creationTimestamp: cluster.ago(729) }),
    place(
      cluster.snapshot(
        cluster.ofClaim,
        { status: { ...cluster.ready, boundVolumeSnapshotContentName: sundayContent } },
        cluster.protectedBy,
      ),
      "sunday",
      { uid: sundayUid },
    ),
    place(
      cluster.content(
        cluster.taken,
        {},
        {
          volumeSnapshotRef: { kind: "VolumeSnapshot", namespace: "team", name: "sunday", uid: sundayUid },
        },
      ),
      sundayContent,
      { uid: "uid-of-its-content" },
    ),
    cluster.claim("team/restored", cluster.restoring, cluster.pending, {
      ...cluster.provisionedBy,
      creationTimestamp: cluster.ago(600),
    }),
  ]);
}

const collectionOf = (kind: KindName): string => {
  const { group, plural } = kindRows[kind];
  return group === "" ? plural : `${group}/${plural}`;
};

/** What each command prints, by the line that is typed. */
export async function printedByCommands(
  saveKubeconfig: (text: string) => string,
): Promise<ReadonlyMap<string, string>> {
  const world: World = { ...realWorld, now: () => Date.parse(cluster.now) };
  const server = createApiServer({ world, definitions: snapshotCrds(3), plugins: [volumeBinder] });
  server.store.commit(
    objects().map((object) => ({
      kind: "put" as const,
      collection: collectionOf(object.kind as KindName),
      key: keyIn(object.metadata.namespace as string | undefined, String(object.metadata.name)),
      object: object as never,
      expect: "any" as const,
    })),
  );
  const served = await overHttp(server.handler, { address: { host: "127.0.0.1", port: 0 }, log: silent, world });
  const kubeconfig = saveKubeconfig(kubeconfigText({ server: served.url, authority: "", token: "any" }));
  const printed = new Map<string, string>();
  for (const line of shownCommands) {
    let said = "";
    const write = (text: string): void => {
      said += text;
    };
    await runCommandLine(commands, [...line.split(" ").slice(1), `--kubeconfig=${kubeconfig}`], {
      environment: {},
      signal: new AbortController().signal,
      world,
      out: { write },
      error: { write },
      version: "1.2.3",
    });
    printed.set(line, said.replaceAll(new URL(served.url).host, "cluster.example.com"));
  }
  await served.close();
  return printed;
}
