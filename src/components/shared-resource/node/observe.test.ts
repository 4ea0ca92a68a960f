import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShareKind } from "../../../api/share-lists.ts";
import type { ObjectOf, ShareReference } from "../../../api/types.ts";
import { platformAllowLists } from "../../../rules/share-allow-lists.ts";
import { type KnownLists, observeShare, type ShareStore } from "./observe.ts";

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
