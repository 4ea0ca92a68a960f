/** Rounds on the cluster of `snapkeep up`; where pods are needed, the test is their kubelet. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import type { ObjectOf } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import type { KubeApi, VersionFinder } from "../../kube/api.ts";
import { thisProcess } from "../owner.ts";
import { startStack } from "../up/stack.ts";
import { scratchLabel, scratchNamespace } from "./objects.ts";
import type { Verification } from "./report.ts";
import { isAtWork } from "./scratch.ts";
import { type VerifyOptions, verify } from "./verify.ts";

type Api = KubeApi & VersionFinder;
const pods = { image: "box", asRoot: false };

interface Round {
  readonly options?: Partial<VerifyOptions>;
  readonly signal?: AbortSignal;
  /** What the round's client is, instead of the cluster's. */
  readonly through?: (api: Api) => Api;
}

async function setUp(t: TestContext) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const root = join(temporaryFolder(t), "root");
  const stack = await startStack({ world: realWorld, log: silent, version: "1.2.3", port: 0, root, signal });
  t.after(() => {
    stopping.abort();
    return stack.stopped;
  });
  const api = stack.client as Api;
  const round = async ({ options = {}, signal: stop = signal, through = (one) => one }: Round = {}) => {
    let said = "";
    const found = await verify(
      {
        storageClass: "",
        snapshotClass: "",
        size: "1Mi",
        pods: undefined,
        keeps: false,
        stepMsMax: 30_000,
        removalMsMax: 60_000,
        ...options,
      },
      {
        api: through(api),
        world: realWorld,
        signal: stop,
        say: (text) => {
          said += text;
        },
        progress: () => undefined,
      },
    );
    return { ...found, said };
  };
  const scratches = async (): Promise<readonly string[]> =>
    (await api.list("Namespace", { labelSelector: scratchLabel })).objects.map(({ metadata }) => metadata.name);
  /** Nothing that a round has made is in the cluster. */
  const nothingLeft = async () => {
    assert.deepEqual(await scratches(), []);
    for (const kind of ["PersistentVolume", "VolumeSnapshotContent"] as const)
      assert.deepEqual(
        (await api.list(kind)).objects.map(({ metadata }) => metadata.name),
        [],
      );
  };
  return { api, round, nothingLeft, scratches };
}

const stepsOf = ({ steps }: Verification): string => steps.map(({ step }) => step).join(" ");

/** Ends pods as a node would: what the script prints is the termination message. */
function playKubelet(t: TestContext, api: Api, end: (name: string, words: string) => object | undefined) {
  const stop = new AbortController();
  let words = "";
  const playing = (async () => {
    while (!stop.signal.aborted) {
      for (const { metadata, spec, status } of (await api.list("Pod")).objects) {
        if (status?.containerStatuses !== undefined) continue;
        const script = spec?.containers[0]?.command?.at(-1) ?? "";
        words = /echo (snapkeep-\d+)/.exec(script)?.[1] ?? words;
        const body = end(metadata.name, words);
        if (body === undefined) continue;
        const ref = { kind: "Pod", namespace: metadata.namespace, name: metadata.name } as const;
        await api
          .patch(ref, { type: "merge", body: { status: body } as never }, { subresource: "status" })
          .catch(() => undefined);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  t.after(() => {
    stop.abort();
    return playing;
  });
}
const conditions = [{ type: "PodScheduled", status: "True" }];
const endedWith = (phase: "Succeeded" | "Failed", message: string): object => ({
  phase,
  conditions,
  containerStatuses: [
    {
      name: "main",
      image: "box",
      imageID: "",
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: phase === "Failed" ? 1 : 0, message } },
    },
  ],
});
const waitingWith = (reason: string, message: string): object => ({
  phase: "Pending",
  conditions,
  containerStatuses: [
    { name: "main", image: "box", imageID: "", ready: false, restartCount: 0, state: { waiting: { reason, message } } },
  ],
});

test("without pods: claim, snapshot and restore, each timed, and nothing is left", async (t) => {
  const { round, nothingLeft } = await setUp(t);
  const found = await round();
  assert.equal(found.result, "passed", found.said);
  assert.equal(stepsOf(found), "claim snapshot restore removal");
  assert.ok(
    found.steps.every(({ tookMs }) => tookMs > 0) &&
      found.tookMs >= Math.max(...found.steps.map(({ tookMs }) => tookMs)),
  );
  assert.match(found.said, /✓ a snapshot is ready +\d+\.\d s {2}content snapcontent-/);
  await nothingLeft();
});

test("with pods: what one writes, another reads from the restored volume", async (t) => {
  const { api, round, nothingLeft } = await setUp(t);
  playKubelet(t, api, (name, words) => endedWith("Succeeded", `${name === "writer" ? "written" : words}\n`));
  const found = await round({ options: { pods } });
  assert.equal(found.result, "passed", found.said);
  assert.equal(stepsOf(found), "claim write snapshot restore read removal");
  await nothingLeft();
});

const podEnds: readonly {
  readonly given: string;
  readonly reader: object;
  readonly result: Verification["result"];
  readonly says: RegExp;
}[] = [
  {
    given: "other words than were written",
    reader: endedWith("Succeeded", "old\n"),
    result: "failed",
    says: /pod reader reads "old" and not "snapkeep-\d+"; .*\[SNAP-859\]/,
  },
  { given: "no words", reader: endedWith("Succeeded", ""), result: "failed", says: /pod reader reads "" and not/ },
  {
    given: "an error",
    reader: endedWith("Failed", "cat: can't open '/data/snapkeep-verify'"),
    result: "failed",
    says: /pod reader has failed: cat: can't open .*\[SNAP-858\]/,
  },
  {
    given: "an image that cannot be pulled",
    reader: waitingWith("ImagePullBackOff", 'Back-off pulling image "box"'),
    result: "blocked",
    says: /ImagePullBackOff: Back-off pulling image "box"; name an image .* with --image.*\[SNAP-857\]/,
  },
  {
    given: "a container that does not start in time",
    reader: waitingWith("ContainerCreating", ""),
    result: "timeout",
    says: /after 1 s; .* wait longer with --timeout \[SNAP-861\]/,
  },
];
for (const { given, reader, result, says } of podEnds)
  test(`given ${given}, the round is ${result}, and everything is removed`, async (t) => {
    const { api, round, nothingLeft } = await setUp(t);
    playKubelet(t, api, (name) => (name === "writer" ? endedWith("Succeeded", "written") : reader));
    const found = await round({ options: { pods, stepMsMax: result === "timeout" ? 1_000 : 30_000 } });
    assert.equal(found.result, result, found.said);
    assert.match(String(found.trouble?.why), says);
    assert.equal(stepsOf(found), "claim write snapshot restore removal");
    await nothingLeft();
  });

test("pods that nobody schedules are named as such", async (t) => {
  const { round, nothingLeft } = await setUp(t);
  const found = await round({ options: { pods, stepMsMax: 1_000 } });
  assert.equal(found.result, "timeout");
  assert.match(found.said, /no scheduler has looked at it: are there nodes\?/);
  await nothingLeft();
});

/** A client of the round that refuses, or changes, what is created. */
const creating =
  (instead: (draft: { kind: string; metadata: { name?: string }; spec?: unknown }) => void) =>
  (api: Api): Api => ({
    ...api,
    create: async (kind, draft, options) => {
      instead(draft as never);
      return api.create(kind, draft, options);
    },
  });

test("a pod that the cluster does not admit blocks the round, in the words of the cluster", async (t) => {
  const { round, nothingLeft } = await setUp(t);
  const through = creating(({ kind }) => {
    if (kind === "Pod") throw new Fault("PermissionDenied", 'violates PodSecurity "restricted:latest"');
  });
  const found = await round({ options: { pods }, through });
  assert.equal(found.result, "blocked");
  assert.match(String(found.trouble?.why), /violates PodSecurity "restricted:latest"; .*--no-pods \[SNAP-856\]/);
  await nothingLeft();
});

test("where a cluster gives users itself, the pod is created again without one", async (t) => {
  const { api, round } = await setUp(t);
  playKubelet(t, api, (name, words) => endedWith("Succeeded", name === "writer" ? "written" : words));
  const users: unknown[] = [];
  const through = creating(({ kind, spec }) => {
    if (kind !== "Pod") return;
    const { runAsUser } = (spec as { securityContext: { runAsUser?: number } }).securityContext;
    users.push(runAsUser);
    if (runAsUser !== undefined)
      throw new Fault("PermissionDenied", "unable to validate against any security context constraint");
  });
  const found = await round({ options: { pods }, through });
  assert.equal(found.result, "passed", found.said);
  assert.deepEqual(users, [65_532, undefined, 65_532, undefined]);
});

test("a claim that gets no volume is explained when its time is over", async (t) => {
  const { api, round, nothingLeft } = await setUp(t);
  const driver = "nobody.example.com";
  await api.create("StorageClass", draftOf("StorageClass", { name: "broken" }, { provisioner: driver } as never));
  await api.create(
    "VolumeSnapshotClass",
    draftOf("VolumeSnapshotClass", { name: "b" }, { driver, deletionPolicy: "Delete" }),
  );
  const found = await round({ options: { storageClass: "broken", stepMsMax: 1_500 } });
  assert.equal(found.result, "timeout", found.said);
  assert.match(found.said, /PersistentVolumeClaim \S+\/source is stuck.*nobody\.example\.com/s);
  assert.match(String(found.trouble?.why), /claim source is Pending after 2 s; do what the explanation below says/);
  await nothingLeft();
});

test("classes with the policy Retain leave no volume and no content behind", async (t) => {
  const { api, round, nothingLeft } = await setUp(t);
  const driver = "directory.snapkeep.dev";
  await api.create(
    "StorageClass",
    draftOf("StorageClass", { name: "kept" }, { provisioner: driver, reclaimPolicy: "Retain" } as never),
  );
  await api.create(
    "VolumeSnapshotClass",
    draftOf("VolumeSnapshotClass", { name: "kept" }, { driver, deletionPolicy: "Retain" }),
  );
  const found = await round({ options: { storageClass: "kept", snapshotClass: "kept" } });
  assert.equal(found.result, "passed", found.said);
  await nothingLeft();
});

test("without classes the round is blocked before anything is created", async (t) => {
  const { round, scratches } = await setUp(t);
  const found = await round({ options: { snapshotClass: "none" } });
  assert.deepEqual([found.result, found.namespace, found.steps.length], ["blocked", undefined, 0]);
  assert.deepEqual(await scratches(), []);
});

test("an interrupted round removes what it has made", async (t) => {
  const { round, nothingLeft } = await setUp(t);
  const stop = new AbortController();
  const through = creating(({ kind }) => {
    if (kind === "VolumeSnapshot") stop.abort(new Fault("Cancelled", "SIGINT"));
  });
  const found = await round({ signal: stop.signal, through });
  assert.equal(found.result, "interrupted");
  assert.equal(stepsOf(found), "claim removal");
  await nothingLeft();
});

test("with --keep everything stays, also for later rounds", async (t) => {
  const { api, round, scratches } = await setUp(t);
  const kept = await round({ options: { keeps: true } });
  assert.equal(kept.result, "passed");
  assert.match(kept.said, new RegExp(`kubectl delete namespace ${kept.namespace}`));
  assert.equal((await round()).result, "passed");
  assert.deepEqual(await scratches(), [kept.namespace]);
  const claims = await api.list("PersistentVolumeClaim", { namespace: kept.namespace });
  assert.deepEqual(claims.objects.map(({ metadata }) => metadata.name).sort(), ["restored", "source"]);
});

test("the next round removes what a killed one has left, and leaves one that may be at work alone", async (t) => {
  const { api, round, scratches } = await setUp(t);
  const [killed, over, atWork] = ["snapkeep-verify-000001", "snapkeep-verify-000002", "snapkeep-verify-000003"];
  const hourMs = 3_600_000;
  const dead = { ...thisProcess(), startedAt: "another boot/1" };
  const far = { ...thisProcess(), host: "another.example.com" };
  await api.create("Namespace", scratchNamespace(killed, dead, realWorld.now() + hourMs));
  await api.create("Namespace", scratchNamespace(over, far, realWorld.now() - 1));
  await api.create("Namespace", scratchNamespace(atWork, far, realWorld.now() + hourMs));
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } };
  await api.create(
    "PersistentVolumeClaim",
    draftOf("PersistentVolumeClaim", { namespace: killed, name: "source" }, { spec }),
  );
  await eventually("its claim has a volume", async () => (await api.list("PersistentVolume")).objects.length === 1);
  const found = await round();
  assert.equal(found.result, "passed", found.said);
  for (const name of [killed, over]) assert.match(found.said, new RegExp(`removed namespace ${name}, which`));
  assert.match(found.said, /namespace snapkeep-verify-000003 is of another round/);
  assert.deepEqual(await scratches(), [atWork]);
  assert.deepEqual((await api.list("PersistentVolume")).objects, []);
});

test("a namespace with another name is not removed for its label", async (t) => {
  const { api, round, scratches } = await setUp(t);
  await api.create("Namespace", scratchNamespace("production", thisProcess(), realWorld.now() - 1));
  const found = await round();
  assert.equal(found.result, "passed", found.said);
  assert.doesNotMatch(found.said, /production/);
  assert.deepEqual(await scratches(), ["production"]);
});

test("what cannot be removed is named, and the round has failed", async (t) => {
  const { api, round } = await setUp(t);
  const held = creating((draft) => {
    if (draft.kind === "VolumeSnapshot") Object.assign(draft.metadata, { finalizers: ["example.com/held"] });
  });
  const found = await round({ through: held, options: { removalMsMax: 2_000 } });
  assert.equal(found.result, "failed", found.said);
  assert.deepEqual(found.left, [`VolumeSnapshot ${found.namespace}/taken`]);
  assert.match(found.said, /✗ not removed: VolumeSnapshot \S+\/taken; .*\[SNAP-862\]/);
  const ref = { kind: "VolumeSnapshot", namespace: found.namespace, name: "taken" } as const;
  await api.patch(ref, { type: "merge", body: { metadata: { finalizers: null } } });
});

test("a namespace without readable notes is of nobody", () => {
  const future = "2099-01-01T00:00:00Z";
  const notes = (process: string, until: string) => ({
    "snapkeep.dev/verify-process": process,
    "snapkeep.dev/verify-until": until,
  });
  assert.equal(isAtWork({}, 0), false);
  assert.equal(isAtWork(notes("{", "nonsense"), 0), false);
  assert.equal(isAtWork(notes("{", future), 0), true);
  assert.equal(isAtWork(notes(JSON.stringify(thisProcess()), future), 0), true);
});

test("the pods keep to the restricted standard, unless they run as root", async (t) => {
  const { api, round } = await setUp(t);
  for (const [asRoot, user] of [
    [false, 65_532],
    [true, 0],
  ] as const) {
    const seen: ObjectOf<"Pod">["spec"][] = [];
    const through = creating(({ kind, spec }) => {
      if (kind === "Pod") seen.push(spec as ObjectOf<"Pod">["spec"]);
    });
    await round({ options: { pods: { image: "box", asRoot }, stepMsMax: 1_000 }, through });
    const [pod] = seen;
    assert.equal(pod?.securityContext?.runAsUser, user);
    assert.equal(pod.securityContext.runAsNonRoot ?? false, !asRoot);
    assert.equal(pod.containers[0]?.securityContext?.allowPrivilegeEscalation, false);
    assert.equal(pod.automountServiceAccountToken, false);
  }
  assert.deepEqual((await api.list("Pod")).objects, []);
});
