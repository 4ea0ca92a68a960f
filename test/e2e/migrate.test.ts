/** The three phases of the CRDs and their rollbacks on a real kube-apiserver, with what etcd holds after each. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { inLanes } from "../../bench/support/lanes.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { Fault } from "../../src/base/fault.ts";
import { limits } from "../../src/base/limits.ts";
import { realWorld } from "../../src/base/world.ts";
import { observe, migrate as runMigration } from "../../src/cli/migrate/act.ts";
import type { Goal } from "../../src/cli/migrate/definition.ts";
import { rollbackGoal } from "../../src/cli/migrate/status.ts";
import { startCommand } from "../command-line.ts";
import { type Client, connect } from "./harness/client.ts";
import { proxyTo } from "./harness/fault-proxy.ts";
import { guideCommands, guideShell } from "./harness/guides.ts";
import { contentDraft, type MigrationGround, sharedMigrationGround, snapshotDraft } from "./harness/migrations.ts";
import { until } from "./harness/until.ts";
import { clientReleases, crdsOfRelease, oldUpstreamCrds, upstreamCrds } from "./harness/upstream.ts";

const namespace = "default";
const claim = { persistentVolumeClaimName: "data" };
const unclear = { persistentVolumeClaimName: "data", volumeSnapshotContentName: "any" };

interface Schema {
  readonly properties: Record<string, { properties?: Record<string, object> }>;
}

describe("the phases of the CRDs", () => {
  const startGround = sharedMigrationGround();
  let ground: MigrationGround;
  before(async () => {
    ground = await startGround();
  });
  after(() => ground?.stop());

  const versionIn = (phase: unknown): "v1" | "v1beta1" => (phase === 1 ? "v1beta1" : "v1");
  async function create(phase: 1 | 2 | 3, ...names: readonly string[]): Promise<void> {
    const client = ground.clients[versionIn(phase)];
    for (const name of names) {
      await client.create("VolumeSnapshot", snapshotDraft(name, claim));
      await client.create("VolumeSnapshotContent", contentDraft(name));
    }
  }
  /** All that was written is there, with every field, in whatever phase. */
  async function assertWhole(...names: readonly string[]): Promise<void> {
    const client = ground.clients[versionIn(await ground.phase())];
    const { objects: snapshots } = await client.list("VolumeSnapshot", { namespace });
    const { objects: contents } = await client.list("VolumeSnapshotContent");
    for (const list of [snapshots, contents])
      assert.deepEqual(list.map(({ metadata }) => metadata.name).sort(), [...names].sort());
    for (const { spec, metadata } of contents)
      assert.equal(spec.sourceVolumeMode, "Filesystem", `sourceVolumeMode of ${metadata.name}`);
  }

  test("upgrade, downgrade and upgrade keep every object and field, and etcd holds one version after each step", async () => {
    await ground.install(snapshotCrds(1));
    await create(1, "one", "two");
    for (const [word, phase, stored] of [
      ["--to-phase=2", 2, "v1beta1"],
      ["--to-phase=3", 3, "v1"],
      ["--rollback", 2, "v1beta1"],
      ["--rollback", 1, "v1beta1"],
      ["--to-phase=3", 3, "v1"],
    ] as const) {
      await ground.migrated(word);
      assert.equal(await ground.phase(), phase);
      assert.deepEqual(await ground.storedIn(), [stored], `after ${word}`);
      assert.deepEqual(await ground.storedVersions(), [stored], `after ${word}`);
      await assertWhole("one", "two");
    }
    const again = await ground.migrate("--to-phase=3");
    assert.equal(again.text, "all snapshot CRDs are in phase 3; nothing to do\n");
  });

  test("upstream's CRDs are a start, and an end", async () => {
    const crds = await upstreamCrds();
    await ground.install(crds);
    await create(3, "theirs");
    assert.equal(await ground.phase(), 3);
    for (const word of ["--to-phase=3", "--rollback", "--rollback", "--to-phase=3"]) {
      await ground.migrated(word);
      await assertWhole("theirs");
    }
    await ground.replace(crds);
    assert.deepEqual(await ground.storedVersions(), ["v1"]);
    await assertWhole("theirs");
    await ground.migrated("--rollback");
    await assertWhole("theirs");
  });

  test("upstream's CRDs of the years before v1 are a start; their objects go up, down and up", async () => {
    await ground.install(await oldUpstreamCrds());
    const { v1beta1 } = ground.clients;
    await v1beta1.create("VolumeSnapshot", snapshotDraft("ancient", claim));
    // Those CRDs prune the volume mode: it is known of contents that are written later.
    await v1beta1.create("VolumeSnapshotContent", contentDraft("ancient"));
    assert.deepEqual([await ground.phase(), await ground.storedVersions()], [1, ["v1beta1"]]);
    await ground.migrated("--to-phase=1");
    await create(1, "in-1");
    for (const word of ["--to-phase=3", "--rollback --to-phase=1", "--to-phase=3"])
      await ground.migrated(...word.split(" "));
    assert.deepEqual([await ground.storedIn(), await ground.storedVersions()], [["v1"], ["v1"]]);
    const { objects } = await ground.clients.v1.list("VolumeSnapshotContent");
    assert.deepEqual(
      objects.map(({ metadata, spec }) => [metadata.name, spec.sourceVolumeMode]),
      [
        ["ancient", undefined],
        ["in-1", "Filesystem"],
      ],
    );
  });

  /** Upstream's 6.3.1 has the field in VolumeSnapshots as well. */
  const like631 = async () =>
    (await crdsOfRelease("6.3.0")).map((crd) => {
      for (const { schema } of crd.spec.versions) {
        const properties = (schema?.openAPIV3Schema as unknown as Schema | undefined)?.properties.status?.properties;
        if (properties !== undefined) properties.volumeGroupSnapshotContentName = { type: "string" };
      }
      return crd;
    });
  const starts = [
    ...clientReleases.map((version) => [version, () => crdsOfRelease(version)] as const),
    ["6.3.1", like631] as const,
  ];
  for (const [release, crds] of starts)
    test(`the CRDs of external-snapshotter ${release} are a start: one command brings them and their objects to phase 3`, async () => {
      await ground.install(await crds());
      const client = ground.clients[release.startsWith("3.") ? "v1beta1" : "v1"];
      await client.create("VolumeSnapshot", snapshotDraft("old", claim));
      await client.create("VolumeSnapshotContent", contentDraft("old"));
      await ground.migrated("--to-phase=3");
      assert.deepEqual(
        [await ground.phase(), await ground.storedIn(), await ground.storedVersions()],
        [3, ["v1"], ["v1"]],
      );
      const { objects } = await ground.clients.v1.list("VolumeSnapshotContent");
      assert.deepEqual(
        objects.map(({ spec }) => spec.source),
        [{ snapshotHandle: "handle-of-old" }],
      );
    });

  test("a cluster that has stored both versions is cleaned up", async () => {
    await ground.install(snapshotCrds(2));
    await create(2, "older");
    await ground.replace(await upstreamCrds());
    await create(3, "newer");
    assert.deepEqual(
      [await ground.storedIn(), await ground.storedVersions()],
      [
        ["v1", "v1beta1"],
        ["v1", "v1beta1"],
      ],
    );
    await ground.migrated("--to-phase=3");
    assert.deepEqual([await ground.storedIn(), await ground.storedVersions()], [["v1"], ["v1"]]);
    await assertWhole("older", "newer");
  });

  test("a cluster without CRDs gets those of the phase", async () => {
    await ground.install([]);
    await ground.migrated("--to-phase=2", "--serve-v1beta1");
    assert.equal(await ground.phase(), 2);
    await ground.withoutCreateDelay();
    await create(1, "by-an-old-client");
    await assertWhole("by-an-old-client");
  });

  test("migration refuses invalid objects and lists them, changes nothing, and proceeds after they are mended", async () => {
    await ground.install(snapshotCrds(1));
    const { v1beta1 } = ground.clients;
    await create(1, "valid");
    await v1beta1.create("VolumeSnapshot", snapshotDraft("mended", unclear));
    await v1beta1.create("VolumeSnapshotContent", contentDraft("deleted", {}));
    for (const word of ["--to-phase=2", "--to-phase=3", "--to-phase=2 --dry-run"]) {
      const { code, error, out } = await ground.migrate(...word.split(" "));
      assert.deepEqual([code, out], [1, ""]);
      assert.match(error, /VolumeSnapshot default\/mended: spec\.source: .*\[SNAP-101\]\n/);
      assert.match(error, /VolumeSnapshotContent deleted: spec\.source: .*\[SNAP-111\]\n/);
      assert.match(error, /2 violations.*\[SNAP-601\]\n/);
      assert.equal(await ground.phase(), 1);
    }
    const { code, out } = await ground.snapkeep("audit", "-o", "json");
    assert.deepEqual([code, JSON.parse(out).errors], [1, 2]);
    const source = { volumeSnapshotContentName: null };
    await v1beta1.patch(
      { kind: "VolumeSnapshot", namespace, name: "mended" },
      { type: "merge", body: { spec: { source } } },
    );
    await v1beta1.delete({ kind: "VolumeSnapshotContent", name: "deleted" });
    assert.equal((await ground.snapkeep("audit")).code, 0);
    await ground.migrated("--to-phase=3");
  });

  /** With a finalizer: deletion ends with an update, which strict rules could refuse. */
  async function createInvalid(client: Client, name: string): Promise<void> {
    for (const draft of [snapshotDraft(name, unclear), contentDraft(name, {})])
      await client.create(
        draft.kind as "VolumeSnapshot",
        {
          ...draft,
          metadata: { ...draft.metadata, finalizers: ["example.com/held"] },
        } as never,
      );
  }
  async function assertDeletable(name: string): Promise<void> {
    const client = ground.clients[versionIn(await ground.phase())];
    for (const ref of [
      { kind: "VolumeSnapshot", namespace, name },
      { kind: "VolumeSnapshotContent", name },
    ] as const) {
      await client.patch(ref, { type: "merge", body: { metadata: { labels: { changed: "yes" } } } });
      await client.delete(ref);
      await client.patch(ref, { type: "merge", body: { metadata: { finalizers: null } } });
      await assert.rejects(client.get(ref), { code: "NotFound" });
    }
  }

  test("invalid objects can be labelled and deleted in every phase, and rollbacks do not mind them", async () => {
    await ground.install(snapshotCrds(1));
    const names = ["in-1", "in-2", "in-3", "back-in-2", "back-in-1"];
    for (const name of names) await createInvalid(ground.clients.v1beta1, name);
    await assertDeletable("in-1");
    await ground.replace(snapshotCrds(2));
    await assertDeletable("in-2");
    await ground.replace(snapshotCrds(3));
    await assertDeletable("in-3");
    await ground.migrated("--rollback");
    assert.deepEqual(await ground.storedIn(), ["v1beta1"]);
    await assertDeletable("back-in-2");
    await ground.migrated("--rollback");
    await assertDeletable("back-in-1");
    assert.equal((await ground.snapkeep("audit")).code, 0);
  });

  const contextOf = (api: Client) => ({
    api,
    world: realWorld,
    signal: new AbortController().signal,
    run: `run-${Math.random()}`,
    settleMs: 0,
    say: () => undefined,
    progress: () => undefined,
  });
  const settled = (run: Promise<void>): Promise<unknown> =>
    run.then(
      () => "done",
      (reason: unknown) => reason,
    );

  /** One run that is killed when it is about to write for the last time; a write more or less is the next run's. */
  async function runUntilKilled(goal: Goal | "back", writesMax: number): Promise<"killed" | "done"> {
    let writes = 0;
    const { v1 } = ground.clients;
    const killed = new Fault("Internal", "killed");
    const counted =
      <A extends readonly unknown[], R>(write: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        writes += 1;
        if (writes > writesMax) throw killed;
        return write(...args);
      };
    const api = { ...v1, create: counted(v1.create), replace: counted(v1.replace), patch: counted(v1.patch) } as Client;
    const context = contextOf(api);
    const installed = await observe(context);
    return runMigration(context, goal === "back" ? rollbackGoal(installed) : goal).then(
      () => "done" as const,
      (reason: unknown) => {
        if (reason === killed || writes > writesMax) return "killed" as const;
        throw reason;
      },
    );
  }

  test("a run that is killed at each of its writes is resumed, upwards and back", async () => {
    await ground.install(snapshotCrds(1));
    await create(1, "a", "b");
    const until = async (goal: Goal | "back"): Promise<number> => {
      // Three writes take over; then there is one of a step.
      for (let runs = 1; ; runs += 1) if ((await runUntilKilled(goal, 4)) === "done") return runs;
    };
    const up = await until({ phase: 3, back: false });
    assert.ok(up > 15, `${up} runs`);
    assert.deepEqual([await ground.phase(), await ground.storedIn()], [3, ["v1"]]);
    await assertWhole("a", "b");
    await until("back");
    assert.deepEqual([await ground.phase(), await ground.storedIn()], [2, ["v1beta1"]]);
    await until("back");
    assert.deepEqual([await ground.phase(), await ground.storedIn()], [1, ["v1beta1"]]);
    await assertWhole("a", "b");
  });

  test("an interrupted rollback goes on to where it was going", async () => {
    await ground.install(snapshotCrds(3));
    await create(3, "x");
    // All CRDs are applied, nothing is rewritten.
    await runUntilKilled("back", 6);
    const { out } = await ground.snapkeep("migrate", "--status");
    assert.match(out, /left to do: rewrite the stored objects of volumesnapshots\.\S+ in v1beta1\n/);
    await ground.migrated("--rollback");
    assert.equal(await ground.phase(), 2);
    assert.deepEqual(await ground.storedVersions(), ["v1beta1"]);
  });

  /** A run may stop only because another one has taken over, and never both. */
  function assertOneGoesOn(ended: readonly { readonly code: number; readonly error: string }[]): void {
    const stopped = ended.filter(({ code }) => code !== 0);
    assert.ok(stopped.length < ended.length, stopped.map(({ error }) => error).join(""));
    for (const { code, error } of stopped) {
      assert.equal(code, 1);
      assert.match(error, /has taken over; this one has stopped \[SNAP-606\]\n/);
    }
  }

  test("two runs at once with the same goal reach it: both end well, or one says that the other has taken over", async () => {
    await ground.install(snapshotCrds(1));
    await create(1, "p", "q");
    for (const [word, phase, stored] of [
      ["--to-phase=3", 3, "v1"],
      ["--rollback --to-phase=2", 2, "v1beta1"],
      ["--to-phase=3", 3, "v1"],
      ["--rollback --to-phase=1", 1, "v1beta1"],
    ] as const) {
      const run = () => ground.migrate(...word.split(" "));
      assertOneGoesOn(await Promise.all([run(), run()]));
      assert.equal(await ground.phase(), phase, word);
      assert.deepEqual([await ground.storedIn(), await ground.storedVersions()], [[stored], [stored]]);
      await assertWhole("p", "q");
    }
  });

  test("a rollback that begins while another is under way goes to the same phase, also without --to-phase", async () => {
    await ground.install(snapshotCrds(3));
    await create(3, "p");
    let second: Promise<{ readonly code: number; readonly error: string }> | undefined;
    const { v1 } = ground.clients;
    // The first has applied its first CRD: from here on until its end is recorded, a rollback joins it.
    const replace: Client["replace"] = async (...args) => {
      const replaced = await v1.replace(...args);
      if (second === undefined && (await ground.phase()) === undefined) second = ground.migrate("--rollback");
      return replaced;
    };
    const context = contextOf({ ...v1, replace });
    const first = await settled(runMigration(context, rollbackGoal(await observe(context))));
    assert.ok(first === "done" || /SNAP-606/.test(String(first)), String(first));
    assertOneGoesOn([
      { code: first === "done" ? 0 : 1, error: `${first}\n` },
      (await second) ?? { code: 1, error: "" },
    ]);
    assert.deepEqual([await ground.phase(), await ground.storedVersions()], [2, ["v1beta1"]]);
  });

  test("of two runs at once with different goals one reaches its own, and the next run ends well", async () => {
    await ground.install(snapshotCrds(2));
    await create(2, "p", "q");
    for (const goals of [
      ["--rollback", "--to-phase=3"],
      ["--to-phase=3", "--rollback"],
    ] as const) {
      const ended = await Promise.all(goals.map((goal) => ground.migrate(goal)));
      assertOneGoesOn(ended);
      const phases = goals.flatMap((goal, at) => (ended[at]?.code !== 0 ? [] : goal === "--to-phase=3" ? [3] : [1, 2]));
      const phase = await ground.phase();
      assert.ok(phases.includes(phase as number), `phase ${phase}, not one of ${phases}`);
      await assertWhole("p", "q");
      await ground.migrated("--to-phase=3");
      assert.deepEqual([await ground.storedIn(), await ground.storedVersions()], [["v1"], ["v1"]]);
      await assertWhole("p", "q");
      await ground.migrated("--rollback");
    }
  });

  test("a run that creates a CRD after another has taken over stops, and the other goes on", async () => {
    await ground.install([]);
    const goal: Goal = { phase: 3, back: false };
    let later: Promise<unknown> | undefined;
    let creations = 0;
    const laterHasTaken = Promise.withResolvers<void>();
    const { v1 } = ground.clients;
    const replace: Client["replace"] = async (...args) => {
      const replaced = await v1.replace(...args);
      laterHasTaken.resolve();
      return replaced;
    };
    const create: Client["create"] = async (...args) => {
      creations += 1;
      if (creations === 2) {
        later = settled(runMigration(contextOf({ ...v1, replace }), goal));
        await laterHasTaken.promise;
      }
      return v1.create(...args);
    };
    const earlier = await settled(runMigration(contextOf({ ...v1, create }), goal));
    assert.match(String(earlier), /has taken over; this one has stopped \[SNAP-606\]/);
    assert.equal(await later, "done");
    assert.deepEqual([await ground.phase(), await ground.storedVersions()], [3, ["v1"]]);
    assert.match((await ground.migrate("--to-phase=3")).text, /nothing to do\n$/);
  });

  test("an old client that still writes v1beta1 keeps it served", async () => {
    await ground.install(snapshotCrds(1));
    // What was written while there was no v1 stands against nothing. The API server notes whole seconds.
    await create(1, "before");
    const second = () => Math.floor(Date.now() / 1_000);
    const written = second();
    await until({ what: "the next second has begun" }, () => (second() > written ? true : undefined));
    await ground.migrated("--to-phase=2", "--serve-v1beta1");
    await ground.migrated("--to-phase=2");
    await ground.migrated("--to-phase=2", "--serve-v1beta1");
    await create(1, "old");
    for (const phase of ["2", "3"]) {
      const { code, error } = await ground.migrate(`--to-phase=${phase}`);
      assert.equal(code, 1);
      assert.match(
        error,
        /old-client wrote VolumeSnapshot\S* \S*old in v1beta1 at \S+, although v1 is served; .*\[SNAP-604\]/,
      );
    }
    await ground.migrated("--to-phase=2", "--old-client-window=0s");
    await assert.rejects(ground.clients.v1beta1.list("VolumeSnapshot"), { code: "NotFound" });
    await assertWhole("before", "old");
  });

  test("an interrupted list goes on where it was: audit and migration miss no object and see none twice", async () => {
    await ground.install(snapshotCrds(1));
    // One is deleted meanwhile, and there still are two pages.
    const count = limits.listPageObjects + 2;
    await inLanes(count, 16, (index) =>
      ground.clients.v1beta1.create("VolumeSnapshotContent", contentDraft(`o-${index}`)),
    );
    const { proxy, kubeconfig } = await proxyTo(ground.plane);
    const snapkeep = async (...words: readonly string[]) => {
      const { code, said } = startCommand(...words, `--kubeconfig=${kubeconfig}`);
      return { code: await code, ...said };
    };
    const nextPage = (request: string) => /volumesnapshotcontents\?.*continue=/.test(request);
    try {
      // While the second page is on its way, the API server becomes unreachable; it forgets the revision of the list, and so does etcd.
      const from = ground.plane.auditPosition();
      const sent = proxy.record();
      const held = proxy.hold(nextPage);
      const auditing = snapkeep("audit", "-o", "json");
      await held.held;
      await proxy.refuse(true);
      proxy.disconnect();
      await ground.clients.v1beta1.delete({ kind: "VolumeSnapshotContent", name: "o-0" });
      await ground.plane.compact();
      await ground.newCacheOf("VolumeSnapshotContent");
      const [, secondPage = ""] = sent.find(nextPage)?.split(" ") ?? [];
      await until({ what: "the revision of the list is forgotten" }, async () =>
        (await ground.plane.request("GET", secondPage)).status === 410 ? true : undefined,
      );
      await proxy.refuse(false);
      const { code, out, error } = await auditing;
      assert.equal(code, 0, error);
      assert.equal(JSON.parse(out).objects.VolumeSnapshotContent, count);
      const codes = ground.plane
        .auditLog(from)
        .filter(({ userAgent }) => userAgent?.startsWith("snapkeep-audit/"))
        .map(({ responseStatus }) => responseStatus?.code);
      assert.equal(codes.filter((answered) => answered === 410).length, 1, "the token had expired");
      // The second page is refused twice: it is asked for again, and the migration goes on.
      const refusing = proxy.answer(503, nextPage);
      const migrating = snapkeep("migrate", "--to-phase=3", "--settle-duration=0s");
      await until({ what: "a page was refused" }, () => (refusing.count() > 1 ? true : undefined));
      refusing.end();
      assert.equal((await migrating).code, 0, (await migrating).text);
      assert.deepEqual(await ground.storedIn(), ["v1"]);
    } finally {
      await proxy.close();
    }
  });

  test("CRDs of somebody else, and newer ones, are left alone", async () => {
    await ground.install(snapshotCrds(1));
    const { v1 } = ground.clients;
    const ref = { kind: "CustomResourceDefinition", name: "volumesnapshots.snapshot.storage.k8s.io" } as const;
    const annotate = (value: string | null) =>
      v1.patch(ref, { type: "merge", body: { metadata: { annotations: { "meta.helm.sh/release-name": value } } } });
    await annotate("csi");
    const helm = await ground.migrate("--to-phase=2");
    assert.equal(helm.code, 1);
    assert.match(helm.error, /volumesnapshots\.\S+: belongs to Helm .*\[SNAP-602\]/);
    assert.match(
      (await ground.migrate("--to-phase=2", "--dry-run", "--force-conflicts")).out,
      /^1\. apply the CRD of phase 2/,
    );
    await annotate(null);
    const operator = await connect(ground.plane.kubeconfig, { userAgent: "some-operator" });
    const names = [{ op: "add" as const, path: "/spec/names/categories", value: ["storage"] }];
    await operator.client.patch(ref, { type: "json", body: names });
    operator.close();
    assert.match((await ground.migrate("--to-phase=2")).error, /field manager some-operator .*\[SNAP-602\]/);
    await ground.install(snapshotCrds(1));
    const newer = JSON.parse(JSON.stringify(snapshotCrds(1)[0]).replaceAll('"restoreSize"', '"restoreSizeInBytes"'));
    await ground.replace([newer]);
    const { code, error } = await ground.migrate("--to-phase=2", "--force-conflicts");
    assert.equal(code, 1);
    assert.match(error, /field status\.restoreSizeInBytes of v1beta1 is not known to this release; .*\[SNAP-603\]/);
    assert.equal(await ground.phase(), 1);
  });

  test("the commands of the guide lead through the phases as it says", async () => {
    await ground.install(snapshotCrds(1));
    await create(1, "kept");
    await ground.clients.v1beta1.create("VolumeSnapshot", snapshotDraft("invalid", unclear));
    const shell = guideShell(ground.plane.kubeconfig);
    const seen: string[] = [];
    for (const command of guideCommands("migrating.md")) {
      const { code, stdout, stderr } = await shell(command);
      seen.push(`${command.replace("snapkeep ", "")}: ${code}, phase ${String(await ground.phase())}`);
      if (command !== "snapkeep audit") assert.equal(code, 0, stderr);
      else {
        assert.match(stdout, /VolumeSnapshot default\/invalid .*exactly one of/);
        await ground.clients.v1beta1.delete({ kind: "VolumeSnapshot", namespace, name: "invalid" });
      }
    }
    shell.remove();
    assert.deepEqual(seen, [
      "migrate --status: 0, phase 1",
      "audit: 1, phase 1",
      "migrate --to-phase=1: 0, phase 1",
      "migrate --to-phase=2 --dry-run: 0, phase 1",
      "migrate --to-phase=2: 0, phase 2",
      "migrate --rollback: 0, phase 1",
      "migrate --to-phase=3: 0, phase 3",
      "kubectl api-resources --cached=false: 0, phase 3",
    ]);
    await assertWhole("kept");
  });
});
