import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot, aVolume } from "../../../test/builders.ts";
import type { KubeObject } from "../../api/types.ts";
import { createStores } from "../../kube/stores.ts";
import type { Triggers } from "../../runtime/controller.ts";
import { claimTriggers, contentTriggers, type SnapshotStores, snapshotTriggers, storeTable } from "./triggers.ts";

const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" };
const adopting = aSnapshot({
  metadata: { name: "adopting", uid: "uid-adopting" },
  spec: { source: { volumeSnapshotContentName: "by-hand" } },
});
const defaulting = aSnapshot({
  metadata: { name: "defaulting", uid: "uid-defaulting" },
  spec: { source: { persistentVolumeClaimName: "data" } },
});
const theirs = aContent({ metadata: { name: "by-hand" }, spec: { volumeSnapshotRef: { namespace: "x", name: "y" } } });
const reader = (namespace: string, spec: object) => aClaim({ metadata: { namespace, name: "copy" }, spec });

const cases: readonly {
  what: string;
  object: KubeObject;
  snapshots: readonly string[];
  claims: readonly string[];
  contents: readonly string[];
}[] = [
  {
    what: "a snapshot",
    object: aSnapshot(),
    snapshots: ["team/monday"],
    claims: ["team/data"],
    contents: ["snapcontent-uid-snap"],
  },
  {
    what: "a snapshot of a content",
    object: adopting,
    snapshots: ["team/adopting"],
    claims: [],
    contents: ["by-hand"],
  },
  {
    what: "a snapshot without a source, from before validation",
    object: { ...aSnapshot({ metadata: { name: "bare", uid: "uid-bare" } }), spec: {} } as KubeObject,
    snapshots: ["team/bare"],
    claims: [],
    contents: ["snapcontent-uid-bare"],
  },
  {
    what: "a content",
    object: aContent(),
    snapshots: ["team/monday"],
    claims: ["team/data"],
    contents: ["snapcontent-uid-snap"],
  },
  {
    what: "a content that names another snapshot than the one that names it",
    object: theirs,
    snapshots: ["team/adopting", "x/y"],
    claims: [],
    contents: ["by-hand"],
  },
  {
    what: "a class, for snapshots that name it and snapshots that wait for a default class",
    object: aClass(),
    snapshots: ["team/adopting", "team/defaulting", "team/monday"],
    claims: ["team/data"],
    contents: [],
  },
  {
    what: "a claim",
    object: aClaim(),
    snapshots: ["team/defaulting", "team/monday"],
    claims: ["team/data"],
    contents: [],
  },
  {
    what: "a claim that restores from a snapshot",
    object: reader("team", { dataSource: source }),
    snapshots: ["team/monday"],
    claims: ["team/copy"],
    contents: [],
  },
  {
    what: "a claim that restores from a snapshot of another namespace",
    object: reader("other", { dataSourceRef: { ...source, namespace: "team" } }),
    snapshots: ["team/monday"],
    claims: ["other/copy"],
    contents: [],
  },
  {
    what: "a volume",
    object: aVolume(),
    snapshots: ["team/defaulting", "team/monday"],
    claims: ["team/data"],
    contents: [],
  },
];
for (const { what, object, ...expected } of cases)
  test(`${what} triggers exactly the affected objects`, () => {
    const stores = createStores(storeTable);
    for (const snapshot of [aSnapshot(), adopting, defaulting]) stores.VolumeSnapshot.applyReply(snapshot);
    const triggered = (triggers: Triggers<SnapshotStores>): readonly string[] => {
      const trigger = triggers[object.kind as keyof SnapshotStores] as
        | ((object: KubeObject, stores: SnapshotStores) => readonly string[])
        | undefined;
      return [...new Set(trigger?.(object, stores) ?? [])].sort();
    };
    const found = {
      snapshots: triggered(snapshotTriggers),
      claims: triggered(claimTriggers),
      contents: triggered(contentTriggers),
    };
    assert.deepEqual(found, expected);
  });
