import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReferenceGrant, VolumeSnapshotContent } from "../api/types.ts";
import { accessChange } from "./access-openings.ts";
import type { BindingObject, RoleObject } from "./rbac.ts";

const group = "snapshot.storage.k8s.io";
const claim = { group: "", kind: "PersistentVolumeClaim" };
const link = { group, kind: "VolumeSnapshotLink" };

interface Grant {
  readonly from?: readonly string[];
  readonly by?: { readonly group: string; readonly kind: string };
  /** Without names: every snapshot. */
  readonly names?: readonly string[];
  readonly namespace?: string;
}
const aGrant = ({ from = ["dev"], by = claim, names, namespace = "prod" }: Grant = {}): ReferenceGrant =>
  ({
    metadata: { name: "g", namespace },
    spec: {
      from: from.map((at) => ({ ...by, namespace: at })),
      to: (names ?? [undefined]).map((name) => ({ group, kind: "VolumeSnapshot", ...(name && { name }) })),
    },
  }) as unknown as ReferenceGrant;

const aContent = (name: string, handle: string, snapshot = "mine"): VolumeSnapshotContent =>
  ({
    metadata: { name },
    spec: {
      driver: "disk",
      source: { snapshotHandle: handle },
      volumeSnapshotRef: { namespace: "dev", name: snapshot },
    },
  }) as unknown as VolumeSnapshotContent;

/** May create contents everywhere, and claims in all namespaces. */
const aMaker = (kind: string, name: string, namespace?: string) => {
  const rules = [{ verbs: ["create"], apiGroups: ["*"], resources: ["*"] }];
  const roles = [{ kind: "ClusterRole", metadata: { name: "maker" }, rules }] as RoleObject[];
  const bindings = [
    {
      kind: "ClusterRoleBinding",
      metadata: { name: "b" },
      roleRef: { apiGroup: "", kind: "ClusterRole", name: "maker" },
      subjects: [{ kind, name, namespace }],
    },
  ] as BindingObject[];
  return { roles, bindings };
};

type Objects = Parameters<typeof accessChange>[0];
const nothing: Objects = { grants: [], contents: [], roles: [], bindings: [] };
const granted = (...grants: readonly Grant[]): Objects => ({ ...nothing, grants: grants.map(aGrant) });
const every = "namespace dev may restore every VolumeSnapshot of prod by a PersistentVolumeClaim";
const one = (name: string, from = "dev") =>
  `namespace ${from} may restore VolumeSnapshot prod/${name} by a PersistentVolumeClaim`;
const creators = (from: string) =>
  `Group system:masters may create PersistentVolumeClaims in ${from}, which has a grant`;

const rows: readonly {
  readonly given: string;
  readonly old: Objects;
  readonly now: Objects;
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}[] = [
  {
    given: "a grant of every snapshot that now names one",
    old: granted({}),
    now: granted({ names: ["monday"] }),
    opened: [],
    closed: [every],
  },
  {
    given: "a grant of one snapshot that now covers every one",
    old: granted({ names: ["monday"] }),
    now: granted({}),
    opened: [every],
    closed: [],
  },
  {
    given: "a grant of two snapshots that now names one of them and another",
    old: granted({ names: ["monday", "tuesday"] }),
    now: granted({ names: ["monday", "friday"] }),
    opened: [one("friday")],
    closed: [one("tuesday")],
  },
  {
    given: "a grant that is split in two",
    old: granted({ names: ["monday", "tuesday"] }),
    now: granted({ names: ["monday"] }, { names: ["tuesday"] }),
    opened: [],
    closed: [],
  },
  {
    given: "a second grant that the first covers",
    old: granted({}),
    now: granted({}, { names: ["monday"] }),
    opened: [],
    closed: [],
  },
  {
    given: "a grant to another namespace",
    old: granted({ names: ["monday"] }),
    now: granted({ names: ["monday"], from: ["test"] }),
    opened: [creators("test"), one("monday", "test")],
    closed: [creators("dev"), one("monday")],
  },
  {
    given: "a grant for claims that is now for links",
    old: granted({}),
    now: granted({ by: link, names: ["monday"] }),
    opened: ["namespace dev may restore VolumeSnapshot prod/monday by a VolumeSnapshotLink"],
    closed: [every],
  },
  {
    given: "the same grant of another namespace",
    old: granted({ names: ["monday"] }),
    now: granted({ names: ["monday"], namespace: "stage" }),
    opened: ["namespace dev may restore VolumeSnapshot stage/monday by a PersistentVolumeClaim"],
    closed: [one("monday")],
  },
  {
    given: "a grant for another purpose",
    old: nothing,
    now: {
      ...nothing,
      grants: [{ ...aGrant(), spec: { from: [{ ...claim, namespace: "dev" }], to: [{ group: "", kind: "Secret" }] } }],
    } as Objects,
    opened: [],
    closed: [],
  },
  {
    given: "a content with another name and the same handle for the same snapshot",
    old: { ...nothing, contents: [aContent("a", "h")] },
    now: { ...nothing, contents: [aContent("b", "h")] },
    opened: [],
    closed: [],
  },
  {
    given: "a content whose handle is now another snapshot's",
    old: { ...nothing, contents: [aContent("a", "h")] },
    now: { ...nothing, contents: [aContent("a", "h", "yours")] },
    opened: ["VolumeSnapshotContent a gives handle h of driver disk to VolumeSnapshot dev/yours, past all grants"],
    closed: ["VolumeSnapshotContent a gives handle h of driver disk to VolumeSnapshot dev/mine, past all grants"],
  },
  {
    given: "a right of everybody that is now one user's",
    old: { ...nothing, ...aMaker("Group", "system:authenticated") },
    now: { ...nothing, ...aMaker("User", "ann") },
    opened: [],
    closed: ["Group system:authenticated may create VolumeSnapshotContents with any handle, past all grants"],
  },
  {
    given: "a right of one service account that is now its namespace's",
    old: { ...nothing, ...aMaker("ServiceAccount", "robot", "dev") },
    now: { ...nothing, ...aMaker("Group", "system:serviceaccounts:dev") },
    opened: ["Group system:serviceaccounts:dev may create VolumeSnapshotContents with any handle, past all grants"],
    closed: [],
  },
  {
    given: "a service account that is bound as a user",
    old: { ...nothing, ...aMaker("ServiceAccount", "robot", "dev") },
    now: { ...nothing, ...aMaker("User", "system:serviceaccount:dev:robot") },
    opened: [],
    closed: [],
  },
  {
    given: "a right of everybody who is known that is now everybody's",
    old: { ...nothing, ...aMaker("Group", "system:authenticated") },
    now: { ...nothing, ...aMaker("Group", "system:unauthenticated") },
    opened: ["Group system:unauthenticated may create VolumeSnapshotContents with any handle, past all grants"],
    closed: ["Group system:authenticated may create VolumeSnapshotContents with any handle, past all grants"],
  },
];

for (const { given, old, now, opened, closed } of rows)
  test(`${given}: ${opened.length} opened, ${closed.length} closed`, () =>
    assert.deepEqual(accessChange(old, now), { opened: [...opened].sort(), closed: [...closed].sort() }));
