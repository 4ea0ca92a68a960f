import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  PersistentVolumeClaim,
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from "../api/types.ts";
import { createAuthorizer, type Reader } from "../apiserver/index.ts";
import {
  type AccessObjects,
  reachableFrom,
  type SnapshotAccess,
  type SnapshotName,
  snapshotAccess,
  uselessGrants,
} from "./access.ts";
import type { BindingObject, RoleObject } from "./rbac.ts";

const snapshotGroup = "snapshot.storage.k8s.io";

/** Mulberry32: a seed fixes the world. */
function dice(seed: number) {
  let state = seed;
  const roll = (sides: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
  const pick = <T>(list: readonly T[]): T => list[roll(list.length)] as T;
  const some = <T>(max: number, make: (index: number) => T): T[] =>
    Array.from({ length: roll(max + 1) }, (_, index) => make(index));
  return { roll, pick, some };
}

const spaces = ["prod", "dev", "test"];
const names = ["monday", "tuesday"];
const kinds = [
  { group: "", kind: "PersistentVolumeClaim" },
  { group: snapshotGroup, kind: "VolumeSnapshotLink" },
  { group: snapshotGroup, kind: "PersistentVolumeClaim" },
  { group: "", kind: "persistentvolumeclaims" },
];
const users = ["ann", "bob"];
const groups = ["devs", "ops"];

function aWorld(seed: number): AccessObjects {
  const { roll, pick, some } = dice(seed);
  const grants = some(5, (index) => ({
    kind: "ReferenceGrant",
    apiVersion: "gateway.networking.k8s.io/v1",
    metadata: { name: `g${index}`, namespace: pick(spaces), uid: "" },
    spec: {
      from: some(3, () => ({ ...pick(kinds), namespace: pick([...spaces, "*", "gone"]) })),
      to: some(3, () => ({
        group: pick([snapshotGroup, snapshotGroup, `${snapshotGroup}/v1`, ""]),
        kind: pick(["VolumeSnapshot", "VolumeSnapshot", "volumesnapshots"]),
        ...(roll(3) === 0 ? {} : { name: pick([...names, "", "Monday", "mon"]) }),
      })),
    },
  })) as unknown as ReferenceGrant[];
  const rule = () => ({
    verbs: [pick(["create", "*", "get"])],
    apiGroups: [pick(["", snapshotGroup, "*"])],
    resources: [pick(["persistentvolumeclaims", "volumesnapshotcontents", "*", "persistentvolumeclaims/status"])],
    ...(roll(4) === 0 ? { resourceNames: ["x"] } : {}),
  });
  const roles = [
    ...some(3, (index) => ({ kind: "ClusterRole", metadata: { name: `r${index}` }, rules: some(2, rule) })),
    ...some(3, (index) => ({
      kind: "Role",
      metadata: { name: `r${index}`, namespace: pick(spaces) },
      rules: some(2, rule),
    })),
  ] as RoleObject[];
  const subject = () =>
    pick([
      { kind: "User", name: pick(users) },
      { kind: "Group", name: pick(groups) },
      { kind: "ServiceAccount", name: "robot", namespace: pick(spaces) },
    ]);
  const bindings = [
    ...some(3, (index) => ({
      kind: "ClusterRoleBinding",
      metadata: { name: `b${index}` },
      roleRef: { apiGroup: "", kind: "ClusterRole", name: `r${roll(3)}` },
      subjects: some(2, subject),
    })),
    ...some(4, (index) => ({
      kind: "RoleBinding",
      metadata: { name: `b${index}`, namespace: pick(spaces) },
      roleRef: { apiGroup: "", kind: pick(["Role", "ClusterRole"]), name: `r${roll(3)}` },
      subjects: some(2, subject),
    })),
  ] as BindingObject[];
  const links = some(4, (index) => ({
    kind: "VolumeSnapshotLink",
    metadata: { name: `l${index}`, namespace: pick(spaces) },
    spec: { source: { name: pick(names), ...(roll(2) === 0 ? {} : { namespace: pick(spaces) }) } },
  })) as unknown as VolumeSnapshotLink[];
  const claims = some(6, (index) => ({
    metadata: { name: `c${index}`, namespace: pick(spaces) },
    spec: {
      dataSourceRef: pick([
        { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name: pick(names) },
        { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name: pick(names), namespace: pick(spaces) },
        { apiGroup: snapshotGroup, kind: "VolumeSnapshotLink", name: `l${roll(4)}` },
        { kind: "PersistentVolumeClaim", name: pick(names) },
      ]),
    },
  })) as unknown as PersistentVolumeClaim[];
  const snapshots = spaces.flatMap((namespace) =>
    names.filter(() => roll(3) > 0).map((name) => ({ kind: "VolumeSnapshot", metadata: { name, namespace } })),
  ) as unknown as VolumeSnapshot[];
  const contents = some(8, (index) => ({
    metadata: { name: `v${index}` },
    spec: {
      driver: pick(["disk", "disk", "tape"]),
      source: pick([{ snapshotHandle: pick(["h1", "h2"]) }, { volumeHandle: "vol" }]),
      volumeSnapshotRef: { namespace: pick(spaces), name: pick(names) },
    },
    ...(roll(3) === 0 ? { status: { snapshotHandle: pick(["h1", "h2"]) } } : {}),
  })) as unknown as VolumeSnapshotContent[];
  return { grants, roles, bindings, links, claims, volumes: [], snapshots, contents, namespaces: spaces };
}

/** As the document words the rule, one entry at a time. */
const isGranted = (
  grants: readonly ReferenceGrant[],
  kind: string,
  group: string,
  from: string,
  to: string,
  name: string,
) =>
  grants.some((grant) => {
    if (grant.metadata.namespace !== to) return false;
    let [asks, gives] = [false, false];
    for (const entry of grant.spec?.from ?? [])
      if (entry.kind === kind && entry.group === group && entry.namespace === from) asks = true;
    for (const entry of grant.spec?.to ?? [])
      if (
        entry.kind === "VolumeSnapshot" &&
        entry.group === snapshotGroup &&
        ["", undefined, name].includes(entry.name)
      )
        gives = true;
    return asks && gives;
  });

const everybody = [
  ...users.map((name) => ({ subject: `User ${name}`, user: { name, groups: [] } })),
  ...groups.map((name) => ({ subject: `Group ${name}`, user: { name: "nobody", groups: [name] } })),
  ...spaces.map((space) => ({
    subject: `ServiceAccount ${space}/robot`,
    user: { name: `system:serviceaccount:${space}:robot`, groups: [] },
  })),
  { subject: "Group system:masters", user: { name: "root", groups: ["system:masters"] } },
];

/** The embedded API server decides request by request, as Kubernetes does. */
function permittedBy(world: AccessObjects, group: string, resource: string, namespace: string): readonly string[] {
  const collections: Readonly<Record<string, readonly (RoleObject | BindingObject)[]>> = {
    roles: world.roles.filter(({ kind }) => kind === "Role"),
    clusterroles: world.roles.filter(({ kind }) => kind === "ClusterRole"),
    rolebindings: world.bindings.filter(({ kind }) => kind === "RoleBinding"),
    clusterrolebindings: world.bindings.filter(({ kind }) => kind === "ClusterRoleBinding"),
  };
  const list = (collection: string, space?: string) =>
    (collections[collection.split("/")[1] ?? ""] ?? []).filter(
      ({ metadata }) => space === undefined || (metadata.namespace ?? "") === space,
    );
  const reader = {
    list,
    get: (collection: string, space: string, name: string) =>
      list(collection, space).find(({ metadata }) => metadata.name === name),
  } as unknown as Reader;
  const attributes = {
    kind: "resource",
    verb: "create",
    group,
    version: "v1",
    resource,
    subresource: "",
    namespace,
    name: "",
  } as const;
  return everybody
    .filter(({ user }) => createAuthorizer(reader).authorize(user, attributes).allowed)
    .map(({ subject }) => subject)
    .sort();
}

const subjects = (permitted: readonly { readonly subject: string }[]) => permitted.map(({ subject }) => subject);

interface Seen {
  granted: number;
  copies: number;
  restored: number;
  useless: number;
}
type May = (kind: string, group: string, from: string) => boolean;

function checkNamespaces(world: AccessObjects, access: SnapshotAccess, may: May, own: string): ReadonlySet<string> {
  const open = new Set<string>();
  for (const from of [...spaces, "*", "gone"]) {
    const found = new Set(access.namespaces.filter(({ namespace }) => namespace === from).map(({ way }) => way));
    const expected = new Set([
      ...(from === own ? ["own namespace"] : []),
      ...(may("PersistentVolumeClaim", "", from) ? ["claim"] : []),
      ...(may("VolumeSnapshotLink", snapshotGroup, from) ? ["link"] : []),
    ]);
    assert.deepEqual(found, expected, `${access.snapshot} from ${from}`);
    if (expected.size > 0) open.add(from);
  }
  for (const { namespace, creators } of access.namespaces)
    assert.deepEqual(subjects(creators), permittedBy(world, "", "persistentvolumeclaims", namespace), namespace);
  assert.deepEqual(subjects(access.bypass), permittedBy(world, snapshotGroup, "volumesnapshotcontents", ""));
  return open;
}

/** Tells for a claim that names the snapshot whether it is allowed. */
function verdictOn(world: AccessObjects, claim: PersistentVolumeClaim, at: SnapshotName, may: May): string[] {
  const { namespace: home = "", name } = claim.metadata;
  const ref = claim.spec?.dataSourceRef as { kind: string; name: string; namespace?: string };
  const isLink = ref.kind === "VolumeSnapshotLink";
  const link = world.links.find((one) => one.metadata.namespace === home && one.metadata.name === ref.name);
  const source = isLink ? link?.spec?.source : ref.kind === "VolumeSnapshot" ? ref : undefined;
  if (source === undefined || source.name !== at.name || (source.namespace ?? home) !== at.namespace) return [];
  const kind = isLink ? "VolumeSnapshotLink" : "PersistentVolumeClaim";
  const allowed = source.namespace === undefined || may(kind, isLink ? snapshotGroup : "", home);
  return [`${home}/${name} ${allowed}`];
}

/** Every pair of contents with one driver and one handle, of which one is the snapshot's own. */
function copiesIn({ contents }: AccessObjects, at: SnapshotName): ReadonlySet<string> {
  const isOwn = ({ spec }: VolumeSnapshotContent): boolean =>
    spec.volumeSnapshotRef?.namespace === at.namespace && spec.volumeSnapshotRef.name === at.name;
  const handle = ({ spec, status }: VolumeSnapshotContent) => status?.snapshotHandle ?? spec.source?.snapshotHandle;
  const found = new Set<string>();
  for (const own of contents.filter(isOwn))
    for (const other of contents)
      if (!isOwn(other) && handle(own) !== undefined && handle(own) === handle(other))
        if (own.spec.driver === other.spec.driver) found.add(other.metadata.name);
  return found;
}

function checkSnapshot(world: AccessObjects, at: SnapshotName, seen: Seen): ReadonlySet<string> {
  const access = snapshotAccess(world, at);
  const may: May = (kind, group, from) => isGranted(world.grants, kind, group, from, at.namespace, at.name);
  const open = checkNamespaces(world, access, may, at.namespace);
  const expected = world.claims.flatMap((claim) => verdictOn(world, claim, at, may));
  assert.deepEqual(
    access.restored.map(({ claim, allowed }) => `${claim} ${allowed}`),
    expected,
    access.snapshot,
  );
  const copies = new Set(access.copies.map(({ content }) => content));
  assert.deepEqual(copies, copiesIn(world, at), access.snapshot);
  seen.copies += copies.size;
  seen.granted += open.size;
  seen.restored += expected.length;
  return open;
}

function checkUseless(world: AccessObjects, seen: Seen): void {
  const unmatched = uselessGrants(world).map(({ grant }) => grant);
  for (const grant of world.grants) {
    const name = `${grant.metadata.namespace}/${grant.metadata.name}`;
    if (!(grant.spec?.to ?? []).some(({ kind }) => kind === "VolumeSnapshot")) {
      assert.ok(!unmatched.includes(name), name);
      continue;
    }
    const opens = world.snapshots.some(({ metadata }) =>
      spaces.some((from) =>
        kinds
          .slice(0, 2)
          .some(({ kind, group }) => isGranted([grant], kind, group, from, metadata.namespace ?? "", metadata.name)),
      ),
    );
    assert.equal(unmatched.includes(name), !opens, `grant ${name}`);
    seen.useless += opens ? 0 : 1;
  }
}

function checkWorld(world: AccessObjects, seen: Seen): void {
  const reachable = new Map(spaces.map((space) => [space, new Set<string>()]));
  for (const { metadata } of world.snapshots) {
    const at = { namespace: metadata.namespace ?? "", name: metadata.name };
    for (const from of checkSnapshot(world, at, seen)) reachable.get(from)?.add(`${at.namespace}/${at.name}`);
  }
  for (const space of spaces)
    assert.deepEqual(
      new Set(reachableFrom(world, space).map(({ snapshot }) => snapshot)),
      reachable.get(space),
      `from ${space}`,
    );
  checkUseless(world, seen);
}

test("access agrees with brute force in 100 generated worlds", () => {
  const seen: Seen = { granted: 0, copies: 0, restored: 0, useless: 0 };
  for (let seed = 1; seed <= 100; seed += 1)
    try {
      checkWorld(aWorld(seed), seen);
    } catch (reason) {
      throw new Error(`seed ${seed}: ${(reason as Error).message}`);
    }
  // Worlds in which nothing happens would prove nothing.
  assert.ok(seen.granted > 400 && seen.copies > 50 && seen.restored > 50 && seen.useless > 50, JSON.stringify(seen));
});

test("a grant without a name is marked", () => {
  const grants = [
    {
      metadata: { name: "g", namespace: "prod" },
      spec: {
        from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "dev" }],
        to: [{ group: snapshotGroup, kind: "VolumeSnapshot" }],
      },
    },
  ] as unknown as ReferenceGrant[];
  const world = { ...aWorld(1), grants, roles: [], bindings: [] };
  const { namespaces } = snapshotAccess(world, { namespace: "prod", name: "monday" });
  assert.deepEqual(
    namespaces.map(({ namespace, wildcard, grant }) => [namespace, wildcard, grant]),
    [
      ["prod", false, undefined],
      ["dev", true, "prod/g"],
    ],
  );
});

/** An earlier snapshot had the name: its content and a claim of it are still there. */
const reused = () => {
  const at = (metadata: object, rest: object = {}) => ({ metadata, ...rest });
  const content = (name: string, handle: string, uid: string | undefined, snapshot = "monday") =>
    at(
      { name },
      {
        spec: {
          driver: "disk",
          source: { snapshotHandle: handle },
          volumeSnapshotRef: { namespace: "prod", name: snapshot, uid },
        },
      },
    );
  const volume = (name: string, creationTimestamp: string, uid: string) =>
    at({ name, creationTimestamp }, { spec: { claimRef: { uid } } });
  const claim = (name: string, volumeName?: string) =>
    at(
      { name, namespace: "prod", uid: name },
      { spec: { dataSource: { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name: "monday" }, volumeName } },
    );
  return {
    ...aWorld(1),
    grants: [],
    snapshots: [at({ name: "monday", namespace: "prod", uid: "new", creationTimestamp: "2026-02-01T00:00:00Z" })],
    contents: [
      content("of-the-earlier-one", "h1", "old"),
      content("of-this-one", "h2", "new"),
      content("copy-of-earlier", "h1", undefined, "other"),
      content("copy-of-this", "h2", undefined, "other"),
    ],
    claims: [
      claim("before", "v1"),
      claim("in-the-same-second", "v2"),
      claim("after", "v3"),
      claim("waits"),
      claim("not-its-volume", "v4"),
      claim("unknown", "v5"),
    ],
    volumes: [
      volume("v1", "2026-01-31T23:59:59Z", "before"),
      volume("v2", "2026-02-01T00:00:00Z", "in-the-same-second"),
      volume("v3", "2026-02-02T00:00:00Z", "after"),
      volume("v4", "2026-01-01T00:00:00Z", "another"),
    ],
  } as unknown as AccessObjects;
};

test("claims and contents of an earlier snapshot of the same name are not those of this one", () => {
  const { restored, restoredFromEarlier, copies } = snapshotAccess(reused(), { namespace: "prod", name: "monday" });
  assert.deepEqual(
    restored.map(({ claim }) => claim),
    ["prod/in-the-same-second", "prod/after", "prod/waits", "prod/not-its-volume", "prod/unknown"],
  );
  assert.deepEqual(restoredFromEarlier, [{ claim: "prod/before", way: "own namespace", volume: "v1" }]);
  assert.deepEqual(copies, [{ content: "copy-of-this", snapshot: "prod/other" }]);
});
