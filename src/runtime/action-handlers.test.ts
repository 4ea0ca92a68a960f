import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterAction } from "../api/plan.ts";
import type { KubeObject, ObjectMeta } from "../api/types.ts";
import { keyIn } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import { withCode } from "../errors/codes.ts";
import type { KubeApi } from "../kube/api.ts";
import { createStores } from "../kube/stores.ts";
import type { ActionHandlers } from "./action-handlers.ts";
import { createActionHandlers } from "./action-handlers.ts";

const aConfig = (metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c", namespace: "team", uid: "u1", resourceVersion: "5", ...metadata },
});
const ref = { kind: "ConfigMap", namespace: "team", name: "c", uid: "u1" } as const;
const signal = new AbortController().signal;

/** An API of scripted answers that writes down what it was asked. */
function setUp(answers: Partial<Record<keyof KubeApi, () => unknown>>, leading: () => boolean = () => true) {
  const asked: unknown[] = [];
  const answer =
    (verb: keyof KubeApi) =>
    async (...given: readonly unknown[]) => {
      asked.push([verb, ...given]);
      return answers[verb]?.();
    };
  const verbs = ["get", "list", "create", "replace", "patch", "delete"] as const;
  const api = Object.fromEntries(verbs.map((verb) => [verb, answer(verb)])) as unknown as KubeApi;
  const stores = createStores({ ConfigMap: {} });
  const events: string[] = [];
  const record = (about: KubeObject, { reason }: { reason: string }) =>
    void events.push(`${about.metadata.name} ${reason}`);
  const handlers = createActionHandlers({ api, stores, leading, record });
  const stored = () => stores.ConfigMap.get(keyIn("team", "c"));
  const act = (action: ClusterAction) =>
    (handlers as ActionHandlers<ClusterAction>)[action.kind](action as never, signal);
  return { stores, asked, events, stored, act };
}
const failWith = (code: ConstructorParameters<typeof Fault>[0]) => () => {
  throw new Fault(code, "said the server");
};
const merge = { type: "merge", body: { data: { k: "v" } } } as const;

const writes = {
  patch: { kind: "patch", ref, patch: merge },
  replace: { kind: "replace", ref, object: aConfig() },
  delete: { kind: "delete", ref, resourceVersion: "5" },
} as const;

test("the reply to a write is in the store before the next action", async () => {
  const created = aConfig();
  const { act, stored } = setUp({ create: () => created });
  await act({ kind: "create", ref, object: created });
  assert.equal(stored(), created);
});

test("a patch has the uid, the patch and the subresource, and its reply updates the store", async () => {
  const patched = aConfig({ resourceVersion: "6" });
  const { act, asked, stored } = setUp({ patch: () => patched });
  await act({ kind: "patch", ref, patch: merge, subresource: "status" });
  assert.deepEqual(asked, [["patch", ref, merge, { signal, subresource: "status" }]]);
  assert.equal(stored(), patched);
});

test("creating an existing object reads it into the store and ends the reconcile as a conflict", async () => {
  const existing = aConfig({ uid: "somebody-else" });
  const { act, asked, stored } = setUp({ create: failWith("AlreadyExists"), get: () => existing });
  await assert.rejects(act({ kind: "create", ref, object: aConfig() }), {
    code: "Conflict",
    message: "ConfigMap team/c exists already",
  });
  assert.equal(stored(), existing);
  assert.deepEqual(asked.at(-1), ["get", { kind: "ConfigMap", namespace: "team", name: "c" }, { signal }]);
});

test("creating an existing object of an uncached kind returns AlreadyExists", async () => {
  const { act } = setUp({ create: failWith("AlreadyExists") });
  await assert.rejects(act({ kind: "create", ref: { kind: "Secret", name: "s" }, object: aConfig() }), {
    code: "AlreadyExists",
  });
});

test("deleting a missing object is a success and updates the store", async () => {
  const { act, stores, stored } = setUp({ delete: failWith("NotFound") });
  stores.ConfigMap.applyReply(aConfig() as never);
  await act({ kind: "delete", ref, resourceVersion: "5" });
  assert.equal(stored(), undefined);
});

test("a delete has the uid and the resourceVersion as preconditions", async () => {
  const { act, asked } = setUp({});
  await act({ kind: "delete", ref, resourceVersion: "5" });
  assert.deepEqual(asked, [["delete", ref, { signal, uid: "u1", resourceVersion: "5" }]]);
});

test("a deleted object with finalizers stays in the store with its deletionTimestamp", async () => {
  const leaving = aConfig({ resourceVersion: "9", deletionTimestamp: "2026-01-01T00:00:00Z" });
  const { act, stored } = setUp({ delete: () => leaving });
  await act({ kind: "delete", ref, resourceVersion: "5" });
  assert.equal(stored(), leaving);
});

test("patching or replacing a missing object updates the store and fails", async () => {
  for (const action of [writes.patch, writes.replace]) {
    const { act, stores, stored } = setUp({ patch: failWith("NotFound"), replace: failWith("NotFound") });
    stores.ConfigMap.applyReply(aConfig() as never);
    await assert.rejects(act(action), { code: "NotFound" });
    assert.equal(stored(), undefined);
  }
});

test("without the lease nothing is sent, including events", async () => {
  const { act, asked, events } = setUp({}, () => false);
  const all: readonly ClusterAction[] = [{ kind: "create", ref, object: aConfig() }, ...Object.values(writes)];
  for (const write of all) await assert.rejects(act(write), { code: "Aborted" });
  await act({
    kind: "event",
    about: aConfig(),
    event: { type: "Normal", reason: "Ready", message: withCode("", "SNAP-293") },
  });
  assert.deepEqual([asked, events], [[], []]);
});

test("an event goes to the recorder", async () => {
  const { act, events } = setUp({});
  await act({
    kind: "event",
    about: aConfig(),
    event: { type: "Normal", reason: "Ready", message: withCode("", "SNAP-293") },
  });
  assert.deepEqual(events, ["c Ready"]);
});

test("a confirmation passes if server and cache agree, also if both have no object", async () => {
  const known = setUp({ get: () => aConfig() });
  await known.act({ kind: "confirm", ref, resourceVersion: "5" });
  const gone = setUp({ get: failWith("NotFound") });
  await gone.act({ kind: "confirm", ref, resourceVersion: undefined });
});

const trusting: readonly [given: string, answeredVersion: string, uid: string, asks: number][] = [
  ["of the version that the last write was answered with", "5", "u1", 0],
  ["of an older version than that", "6", "u1", 1],
  ["of another incarnation of the same name", "5", "u0", 1],
];
for (const [given, resourceVersion, uid, asks] of trusting)
  test(`a confirmation ${given} that trusts replies ${asks === 0 ? "sends no request" : "reads from the server"}`, async () => {
    const { act, asked } = setUp({ patch: () => aConfig({ resourceVersion, uid }), get: () => aConfig() });
    await act({ kind: "patch", ref, patch: merge });
    await act({ kind: "confirm", ref, resourceVersion: "5", trustsReplies: true });
    assert.equal(asked.length - 1, asks);
    await act({ kind: "confirm", ref, resourceVersion: "5" });
    assert.equal(asked.length - 1, asks + 1);
  });

for (const kind of ["patch", "replace", "delete"] as const)
  test(`a ${kind} without a reply ends the trust in earlier replies: it may have had its effect`, async () => {
    const { act, asked } = setUp({
      create: () => aConfig(),
      [kind]: failWith("UnknownOutcome"),
      get: () => aConfig({ resourceVersion: "6" }),
    });
    const confirm = () => act({ kind: "confirm", ref, resourceVersion: "5", trustsReplies: true });
    await act({ kind: "create", ref, object: aConfig() });
    await confirm();
    await assert.rejects(act(writes[kind]), { code: "UnknownOutcome" });
    await assert.rejects(confirm(), { code: "Conflict" });
    assert.equal(asked.length, 3);
  });

for (const kind of ["patch", "replace", "delete"] as const)
  test(`a ${kind} with two conflicts at the same version reads the object from the server, and not before`, async () => {
    const newer = aConfig({ resourceVersion: "9" });
    const { act, asked, stored, stores } = setUp({ [kind]: failWith("Conflict"), get: () => newer });
    const reads = () => asked.filter((call) => (call as readonly unknown[])[0] === "get").length;
    const write = (): Promise<void> => act(writes[kind]);
    stores.ConfigMap.applyReply(aConfig() as never);
    await assert.rejects(write(), { code: "Conflict" });
    stores.ConfigMap.applyReply(aConfig({ resourceVersion: "6" }) as never);
    await assert.rejects(write(), { code: "Conflict" });
    assert.equal(reads(), 0);
    await assert.rejects(write(), { code: "Conflict" });
    assert.deepEqual([reads(), stored()], [1, newer]);
  });

test("an object that is missing after a second conflict is removed from the store", async () => {
  const { act, stored, stores } = setUp({ patch: failWith("Conflict"), get: failWith("NotFound") });
  stores.ConfigMap.applyReply(aConfig() as never);
  for (let attempts = 0; attempts < 2; attempts++)
    await assert.rejects(act({ kind: "patch", ref, patch: merge }), { code: "Conflict" });
  assert.equal(stored(), undefined);
});

test("a failed confirmation updates the cache and ends the reconcile as a conflict", async () => {
  const newer = aConfig({ resourceVersion: "6" });
  const changed = setUp({ get: () => newer });
  await assert.rejects(changed.act({ kind: "confirm", ref, resourceVersion: undefined }), { code: "Conflict" });
  assert.equal(changed.stored(), newer);
  const gone = setUp({ get: failWith("NotFound") });
  gone.stores.ConfigMap.applyReply(aConfig() as never);
  await assert.rejects(gone.act({ kind: "confirm", ref, resourceVersion: "5" }), { code: "Conflict" });
  assert.equal(gone.stored(), undefined);
  const silent = setUp({ get: failWith("Unavailable") });
  await assert.rejects(silent.act({ kind: "confirm", ref, resourceVersion: undefined }), { code: "Unavailable" });
});

const lists: readonly { given: string; objects: readonly KubeObject[]; version: string; isNews: boolean }[] = [
  { given: "what the cache has", objects: [aConfig()], version: "5", isNews: false },
  { given: "another version", objects: [aConfig({ resourceVersion: "7" })], version: "7", isNews: true },
  {
    given: "another object",
    objects: [aConfig(), aConfig({ name: "d", uid: "u2", resourceVersion: "6" })],
    version: "6",
    isNews: true,
  },
  { given: "nothing any more", objects: [], version: "8", isNews: true },
  { given: "nothing yet, in a list from the past", objects: [], version: "4", isNews: false },
];
for (const { given, objects, version, isNews } of lists)
  test(`a list of the kind that has ${given} ${isNews ? "updates the store and ends the reconcile as a conflict" : "lets the plan continue"}`, async () => {
    const { stores, act, asked } = setUp({ list: () => ({ objects, resourceVersion: version }) });
    stores.ConfigMap.take({ kind: "all", objects: [aConfig() as never], resourceVersion: "5" });
    const outcome = act({ kind: "relist", ref: { kind: "ConfigMap" } });
    if (isNews) await assert.rejects(outcome, { code: "Conflict" });
    else await outcome;
    assert.equal(asked.length, 1);
    assert.equal(stores.ConfigMap.size(), isNews ? objects.length : 1);
  });
