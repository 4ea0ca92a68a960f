import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume, present, source, written } from "../../../../test/share-volume-views.ts";
import type { ShareKind } from "../../../api/share-lists.ts";
import type { ObjectOf, ShareReference } from "../../../api/types.ts";
import { type Key, keyIn } from "../../../base/brand.ts";
import { withCode } from "../../../errors/codes.ts";
import { platformAllowLists } from "../../../rules/share-allow-lists.ts";
import {
  type KnownLists,
  notListed,
  observeShare,
  observeVolume,
  type ShareStore,
  type ShareStores,
  type VolumeContext,
} from "./observe.ts";
import { nothingAsked, observePublish } from "./observe-publish.ts";
import type { SourceState } from "./types.ts";

const share = (kind: ShareKind, name: string, reference: Partial<ShareReference>): ObjectOf<ShareKind> =>
  ({
    kind,
    metadata: { name },
    spec: { [kind === "SharedSecret" ? "secretRef" : "configMapRef"]: reference },
  }) as unknown as ObjectOf<ShareKind>;
const storeOf = (...shares: readonly ObjectOf<ShareKind>[]): ShareStore => ({
  isSynced: () => true,
  get: (name) => shares.find(({ metadata }) => metadata.name === name),
});
const lists: KnownLists = { current: () => platformAllowLists, isRead: () => true };
const observe = (kind: ShareKind, name: string, store: ShareStore, known = lists) =>
  observeShare({ shareKind: kind, share: name }, store, known);
const reference = { namespace: "team", name: "data" };

test("a share leads to its Secret or ConfigMap", () => {
  const secret = observe("SharedSecret", "a", storeOf(share("SharedSecret", "a", reference)));
  assert.deepEqual(secret, { kind: "usable", source: { kind: "Secret", ...reference } });
  const configMap = observe("SharedConfigMap", "a", storeOf(share("SharedConfigMap", "a", reference)));
  assert.deepEqual(configMap, { kind: "usable", source: { kind: "ConfigMap", ...reference } });
});

test("a missing share is absent only after the first list", () => {
  assert.equal(observe("SharedSecret", "a", storeOf()).kind, "absent");
  assert.equal(observe("SharedSecret", "a", { ...storeOf(), isSynced: () => false }).kind, "unknown");
});

const reserved = { namespace: "openshift-config-managed", name: "etc-pki-entitlement" };
const names: readonly { name: string; kind: ShareKind; to: ShareReference; usable: boolean }[] = [
  { name: "plain", kind: "SharedSecret", to: reference, usable: true },
  { name: "openshift", kind: "SharedSecret", to: reference, usable: true },
  { name: "openshiftx", kind: "SharedSecret", to: reference, usable: true },
  { name: "openshift-x", kind: "SharedSecret", to: reference, usable: false },
  { name: "openshift-x", kind: "SharedConfigMap", to: reference, usable: false },
  { name: "openshift-etc-pki-entitlement", kind: "SharedSecret", to: reserved, usable: true },
  { name: "openshift-etc-pki-entitlement", kind: "SharedSecret", to: reference, usable: false },
  { name: "openshift-etc-pki-entitlement", kind: "SharedConfigMap", to: reserved, usable: false },
];
for (const { name, kind, to, usable } of names)
  test(`R48: ${kind} ${name} for ${to.namespace}/${to.name} is ${usable ? "usable" : "refused at the mount"}`, () => {
    const state = observe(kind, name, storeOf(share(kind, name, to)));
    assert.equal(state.kind, usable ? "usable" : "unusable");
    if (state.kind === "unusable") assert.match(state.problem, / \[SNAP-152\]$/);
  });

const unread: KnownLists = {
  current: () => ({ SharedSecret: new Map(), SharedConfigMap: new Map() }),
  isRead: () => false,
};
test("a reserved name is not judged before the allow-lists are read; its source is known", () => {
  const [name, source] = ["openshift-etc-pki-entitlement", { kind: "Secret", ...reserved }] as const;
  const store = storeOf(share("SharedSecret", name, reserved), share("SharedSecret", "plain", reference));
  const state = observe("SharedSecret", name, store, unread);
  assert.ok(state.kind === "unknown", state.kind);
  assert.deepEqual(state.source, source);
  assert.match(state.because, /ConfigMap ocp-sharedsecret-list.*could not be read yet: let .* get it$/);
  assert.equal(observe("SharedSecret", "plain", store, unread).kind, "usable");
  const fromVariable = { ...unread, current: () => platformAllowLists };
  assert.deepEqual(observe("SharedSecret", name, store, fromVariable), { kind: "usable", source }, "R18");
});

for (const name of ["", "  ", "a,metadata.namespace=kube-system", "a/b", "..", "A", "a b", "a\nb"])
  test(`a reference to ${JSON.stringify(name)} never gets into a field selector`, () => {
    for (const odd of [
      { ...reference, name },
      { ...reference, namespace: name },
    ]) {
      const state = observe("SharedSecret", "a", storeOf(share("SharedSecret", "a", odd)));
      assert.ok(state.kind === "unusable", state.kind);
      assert.match(state.problem, /secretRef\.name(space)? is .* \[SNAP-703\]$/);
    }
  });

test("a share without a spec is refused, and not a crash", () => {
  const broken = { kind: "SharedSecret", metadata: { name: "a" } } as unknown as ObjectOf<ShareKind>;
  assert.equal(observe("SharedSecret", "a", storeOf(broken)).kind, "unusable");
});

const shares: ShareStores = {
  SharedSecret: {
    isSynced: () => true,
    get: (key) =>
      key === keyIn(undefined, "one")
        ? (share("SharedSecret", "one", { namespace: "owner", name: "x" }) as ObjectOf<"SharedSecret">)
        : undefined,
  },
  SharedConfigMap: { isSynced: () => false, get: () => undefined },
};
const full = withCode("too large", "SNAP-711");
const context: VolumeContext = {
  refreshResources: true,
  lists,
  volumes: {
    get: (id) => (id === aVolume.id ? { spec: aVolume, written: written("1"), follows: { source } } : undefined),
  },
  reviews: { current: ({ serviceAccount }) => (serviceAccount === "reader" ? "allowed" : "denied") },
  sources: { state: ({ name }) => present(`digest of ${name}`) },
  shareReads: { isRead: (state: SourceState) => state.kind === "present" },
  memoryUse: { refusal: (_id, namespace, bytes) => (namespace === "team" && bytes > 4_000 ? full : undefined) },
  nowMs: 5,
};
const id = aVolume.id as Key;

test("a mounted volume is seen with its share, the answer to its review, its source, and whether there is room for it", () => {
  const { facts, memory, nowMs } = observeVolume(shares, context, id) ?? assert.fail();
  assert.deepEqual(facts, {
    spec: aVolume,
    refresh: true,
    share: { kind: "usable", source },
    review: "allowed",
    source: present("digest of x"),
    full,
  });
  assert.deepEqual([memory, nowMs], [{ written: written("1"), follows: source, isShareRead: true }, 5]);
  assert.equal(observeVolume(shares, context, "csi-2" as Key), undefined);
});

test("without an API server, and before their list, shares are not known", () => {
  assert.equal(observeVolume(shares, { ...context, lists: undefined }, id)?.facts.share, notListed);
  const spec = { ...aVolume, shareKind: "SharedConfigMap" } as const;
  const other = { ...context, volumes: { get: () => ({ spec, written: undefined }) } };
  const { facts } = observeVolume(shares, other, id) ?? assert.fail();
  assert.deepEqual([facts.share, facts.source], [notListed, { kind: "unknown", isRefused: false }]);
});

test("the configuration of the driver and the pod both have to want a refresh", () => {
  const refreshes = (refresh: boolean, refreshResources: boolean) =>
    observeVolume(
      shares,
      { ...context, refreshResources, volumes: { get: () => ({ spec: { ...aVolume, refresh }, written: undefined }) } },
      id,
    )?.facts.refresh;
  assert.deepEqual([refreshes(true, true), refreshes(true, false), refreshes(false, true)], [true, false, false]);
});

test("a request is seen with what is mounted under its id, and with room only for what it has read", () => {
  const request = { ...aVolume, readOnly: true, group: undefined };
  const asked = { ...context, request, memory: nothingAsked };
  const { facts } = observePublish(shares, asked, id);
  assert.deepEqual([facts.known?.written, facts.share.kind, facts.full], [written("1"), "usable", undefined]);
  const read = { kind: "answered", value: present("1"), of: source } as const;
  assert.equal(observePublish(shares, { ...asked, memory: { ...nothingAsked, source: read } }, id).facts.full, full);
});
