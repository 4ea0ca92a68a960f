import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import { silent } from "../base/log.ts";
import type { KubeApi } from "../kube/api.ts";
import { createCsiCallHandler, type PlannedCall } from "./csi-calls.ts";
import { createReplyCache } from "./reply-cache.ts";
import { createSemaphore } from "./semaphore.ts";

interface Target {
  readonly metadata: { readonly name: string; readonly uid: string };
}
type Call = PlannedCall & { readonly method: "create" | "delete" };
/** A component may store its intent elsewhere than on the object. */
interface LogIntent {
  readonly kind: "log-intent";
}

const target: Target = { metadata: { name: "claim", uid: "uid-1" } };
const secret = { namespace: "vault", name: "key" };
const create: Call = { method: "create", secret };
const remove: Call = { method: "delete", secret: undefined };
const intent: LogIntent = { kind: "log-intent" };

interface Setting {
  readonly secretFound?: boolean;
  readonly exists?: boolean;
  readonly intentFault?: Fault;
  leading?(): boolean;
  stopping?(): boolean;
  send?(call: Call): Promise<void>;
}

/** Cluster and driver note what is asked of them, in order. */
function setUp({ secretFound = true, exists = true, intentFault, leading, stopping, send }: Setting = {}) {
  const asked: string[] = [];
  const failures: string[] = [];
  const world = createVirtualWorld();
  const pause = { startMs: 1_000, maxMs: 300_000 };
  const replies = createReplyCache<Target, { readonly kind: "done" }, "any">({
    world,
    backoff: pause,
    poll: pause,
    goalOf: () => "any",
    validityOf: () => "for good",
  });
  const api = {
    get: async ({ kind, namespace, name }: { kind: string; namespace: string; name: string }) => {
      asked.push(`read ${kind} ${namespace}/${name}`);
      if (!secretFound) throw new Fault("NotFound", "no such secret");
      return { data: { token: Buffer.from("päss").toString("base64") } };
    },
  } as unknown as KubeApi;
  const handler = createCsiCallHandler<Target, Call, { readonly kind: "done" }, string, LogIntent>({
    api,
    intentHandlers: {
      "log-intent": async () => {
        asked.push("intent");
        if (intentFault !== undefined) throw intentFault;
      },
    },
    replies,
    semaphore: createSemaphore({ atOnceMax: 1, newMax: 1, hangingMax: 0, world }),
    log: silent,
    rpcs: { create: "CreateThing", delete: "DeleteThing" },
    send: async (call, secrets) => {
      asked.push(`${call.method} with ${JSON.stringify(secrets)}`);
      await send?.(call);
      return { kind: "done" };
    },
    beforeIntent: () => void asked.push("before intent"),
    leading: leading ?? (() => true),
    ...(stopping === undefined ? {} : { stopping }),
    exists: () => exists,
    trigger: (key) => void asked.push(`trigger ${key}`),
    onFailure: (rpc) => void failures.push(rpc),
  });
  const act = (call: Call, signal = new AbortController().signal) =>
    handler({ kind: "csi", about: target, call, intent: [intent] }, signal);
  return { asked, failures, act, reply: () => replies.get(target.metadata.uid)?.reply };
}

test("the sidecar reads the secret, writes the intent, and then calls the driver", async () => {
  const { asked, act, reply } = setUp();
  await act(create);
  assert.deepEqual(asked, [
    "read Secret vault/key",
    "before intent",
    "intent",
    'create with {"token":"päss"}',
    "trigger claim",
  ]);
  assert.equal(reply()?.kind, "done");
});

test("an unreadable secret causes no intent and no call, and the error names the secret", async () => {
  const { asked, act, reply } = setUp({ secretFound: false });
  await act(create);
  assert.deepEqual(asked, ["read Secret vault/key", "trigger claim"]);
  const kept = reply();
  assert.match(kept?.kind === "unsent" ? kept.fault.message : "", /secret vault\/key cannot be read: .*; create it/);
});

test("the driver is not called if the intent could not be stored", async () => {
  const { asked, act, reply } = setUp({ intentFault: new Fault("Conflict", "changed meanwhile") });
  await assert.rejects(act(remove), /changed meanwhile/);
  assert.deepEqual([asked, reply()], [["before intent", "intent"], undefined]);
});

test("a replica that lost the lease does not call the driver", async () => {
  const { asked, failures, act } = setUp({ leading: () => false });
  await assert.rejects(act(create), /lease/);
  assert.deepEqual([asked, failures], [["read Secret vault/key", "before intent", "intent"], []]);
});

test("a call that the transport did not send because the lease was lost is no failure, and no reply is kept", async () => {
  let isLeading = true;
  const { failures, act, reply } = setUp({
    leading: () => isLeading,
    send: async () => {
      isLeading = false;
      throw new Fault("Aborted", "not sent");
    },
  });
  await assert.rejects(act(remove), /not sent/);
  assert.deepEqual([reply(), failures], [undefined, []]);
});

test("a process that stops does not call the driver, and reports a cancelled call", async () => {
  const { asked, act } = setUp({ stopping: () => true });
  await assert.rejects(act(remove), (fault: Fault) => fault.code === "Cancelled");
  assert.deepEqual(asked, ["before intent", "intent"]);
});

test("a reply about an object that is gone is dropped", async () => {
  const { asked, act, reply } = setUp({ exists: false });
  await act(remove);
  assert.deepEqual([asked.at(-1), reply()], ["delete with {}", undefined]);
});

test("a call that shutdown aborts leaves no reply", async () => {
  const stop = new AbortController();
  const { act, failures, reply } = setUp({
    send: async () => {
      stop.abort();
      throw new Fault("Cancelled", "aborted");
    },
  });
  await assert.rejects(act(remove, stop.signal), /aborted/);
  assert.deepEqual([reply(), failures], [undefined, []]);
});

test("each failed attempt is counted once, a successful one is not", async () => {
  const away = async (): Promise<never> => {
    throw new Fault("Unavailable", "away");
  };
  const cases: readonly [Setting, Call, readonly string[]][] = [
    [{}, create, []],
    [{ send: away }, create, ["CreateThing", "CreateThing"]],
    [{ secretFound: false }, create, ["CreateThing", "CreateThing"]],
    [{ send: away }, remove, ["DeleteThing", "DeleteThing"]],
  ];
  for (const [given, call, counted] of cases) {
    const { failures, act } = setUp(given);
    await act(call);
    await act(call);
    assert.deepEqual(failures, counted);
  }
});
