/** `status` of a cluster with many snapshots: how often it asks, not how long it takes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { snapshotCrds } from "../../api/crds/index.ts";
import { type KindName, kindRows } from "../../api/kinds.ts";
import { createApiServer } from "../../apiserver/index.ts";
import { keyIn } from "../../base/brand.ts";
import type { HttpRequest } from "../../base/http.ts";
import { realWorld } from "../../base/world.ts";
import { createClient } from "../../kube/client.ts";
import { readStatus } from "./status.ts";

const count = 10_000;
const driver = "disk.example.com";
const created = "2026-01-01T00:00:00Z";

/** A claim, its volume, a snapshot that is being deleted and its content: of each, every tenth is not ready. */
function objectsOf(
  index: number,
): readonly (readonly [KindName, object & { readonly metadata: object; readonly [field: string]: unknown }])[] {
  const [uid, namespace] = [`uid-${index}`, `team-${index % 20}`];
  const name = `s-${index}`;
  const content = `snapcontent-${uid}`;
  const isReady = index % 10 > 0;
  const deleted = index % 10 === 1 ? { deletionTimestamp: created, deletionGracePeriodSeconds: 0 } : {};
  const own = { uid, creationTimestamp: created, resourceVersion: "1", ...deleted };
  return [
    [
      "VolumeSnapshot",
      {
        metadata: {
          name,
          namespace,
          ...own,
          finalizers: ["snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection"],
        },
        spec: { source: { persistentVolumeClaimName: name }, volumeSnapshotClassName: "fast" },
        status: { boundVolumeSnapshotContentName: content, readyToUse: isReady },
      },
    ],
    [
      "VolumeSnapshotContent",
      {
        metadata: { name: content, ...own },
        spec: {
          volumeSnapshotRef: { kind: "VolumeSnapshot", namespace, name, uid },
          source: { volumeHandle: name },
          driver,
          deletionPolicy: "Delete",
          volumeSnapshotClassName: "fast",
        },
        status: { snapshotHandle: name, readyToUse: isReady },
      },
    ],
    [
      "PersistentVolumeClaim",
      {
        metadata: { name, namespace, uid: `claim-${index}`, creationTimestamp: created },
        spec: {
          storageClassName: "fast",
          volumeName: name,
          dataSourceRef: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name },
        },
        status: { phase: "Bound" },
      },
    ],
    [
      "PersistentVolume",
      { metadata: { name, uid: `volume-${index}`, creationTimestamp: created }, spec: { csi: { driver } } },
    ],
  ];
}

test(`of ${count} snapshots each kind is listed once, page by page`, async () => {
  const server = createApiServer({ world: realWorld, definitions: snapshotCrds(3) });
  server.store.commit(
    Array.from({ length: count }, (_, index) => objectsOf(index))
      .flat()
      .map(([kind, object]) => {
        const { group, plural, versions } = kindRows[kind];
        const { name, namespace } = object.metadata as { readonly name: string; readonly namespace?: string };
        return {
          kind: "put" as const,
          collection: group === "" ? plural : `${group}/${plural}`,
          key: keyIn(namespace, name),
          object: { apiVersion: group === "" ? "v1" : `${group}/${versions[0]}`, kind, ...object } as never,
          expect: "absent" as const,
        };
      }),
  );
  const asked: URL[] = [];
  const handler = (request: HttpRequest) => {
    asked.push(new URL(request.path, "http://server"));
    return server.handler(request);
  };
  const api = createClient({ handler, world: realWorld, userAgent: "tester" });
  const view = await readStatus({
    api,
    server: "server",
    version: "1.2.3",
    selection: { namespace: undefined, isSelected: () => true },
    signal: new AbortController().signal,
    now: () => realWorld.now(),
  });
  const kinds = Object.fromEntries(view.objects.map(({ kind, count: own }) => [kind, own]));
  assert.deepEqual(kinds, { VolumeSnapshot: count, VolumeSnapshotContent: count, PersistentVolumeClaim: count });
  const begun = asked.filter(({ searchParams }) => !searchParams.has("continue")).map(({ pathname }) => pathname);
  const lists = begun.filter((path) => Object.values(kindRows).some(({ plural }) => path.endsWith(`/${plural}`)));
  assert.deepEqual(lists.toSorted(), [...new Set(lists)].toSorted());
  assert.ok(lists.some((path) => path.endsWith("/volumesnapshots")));
  const singly = begun.filter((path) =>
    /\/(volumesnapshots|volumesnapshotcontents|persistentvolumes|persistentvolumeclaims)\/[^/]+$/.test(path),
  );
  assert.deepEqual(singly, []);
});
