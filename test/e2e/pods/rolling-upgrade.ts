/**
 * A rolling upgrade of an installation's workloads to another image tag, and back with the commands of docs/guides/install.md, while a
 * snapshot is created every quarter of a second.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import { fieldManager } from "../../../src/cli/install/resources.ts";
import { createStore } from "../../../src/kube/store.ts";
import { watchInto } from "../../../src/kube/stores.ts";
import { type Connection, connect } from "../harness/client.ts";
import { type Cluster, ownPodsOf, version } from "../harness/cluster.ts";
import { type GuideShell, guideCommands, guideShell } from "../harness/guides.ts";
import { newNamespace } from "../harness/shared.ts";
import { until } from "../harness/until.ts";
import { type VolumeLife, volumeLifeIn } from "../harness/volume-life.ts";

const next = `${version}-next`;

const minutesMs = 120_000;
const everyMs = 250;
const guideBlock = (text: string): string =>
  guideCommands("install.md").find((commands) => commands.includes(text)) ?? assert.fail(text);
const claims = ["a", "b", "c", "d"];
const podCount = 6;
const leases = [
  { namespace: "kube-system", name: "snapshot-controller-leader" },
  { namespace: "snapkeep-drivers", name: "external-snapshotter-leader-directory-snapkeep-dev" },
  { namespace: "snapkeep-drivers", name: "directory-snapkeep-dev" },
] as const;

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status?: { readonly containerStatuses?: readonly { readonly ready: boolean }[] };
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly text: string;
}

/** The installation has snapshot-controller, webhook and directory-driver. */
export interface Installation {
  readonly cluster: Cluster;
  snapkeep(...args: readonly string[]): Promise<Ended>;
  /** `snapkeep install` with the flags of the installation. */
  install(...args: readonly string[]): Promise<Ended>;
  /** The API server asks the webhook. */
  untilJudged(): Promise<unknown>;
}

export const testRollingUpgrade = (of: () => Installation) =>
  describe("a rolling upgrade under load", () => {
    let cluster: Cluster;
    let connection: Connection;
    let shell: GuideShell;
    let namespace: string;
    let life: VolumeLife;
    let load: ReturnType<typeof startLoad> | undefined;

    const pods = () => ownPodsOf<Pod>(cluster);
    before(async () => {
      const { snapkeep, untilJudged } = of();
      cluster = of().cluster;
      connection = await connect(cluster.plane.kubeconfig);
      shell = guideShell(cluster.plane.kubeconfig);
      for (const suffix of ["", "-driver"])
        await cluster.node.tagImage(`snapkeep:${version}${suffix}`, `snapkeep:${next}${suffix}`);
      await untilJudged();
      // From now on, a request that no webhook judges fails.
      const { code, text } = await snapkeep("webhook", "promote");
      assert.equal(code, 0, text);
      namespace = await newNamespace(cluster.plane, "upgrade");
      life = volumeLifeIn(cluster, namespace);
      for (const name of claims) await life.createClaim(name);
      for (const name of claims) await life.untilBound(name);
      load = startLoad();
      await until({ what: "snapshots get ready", msMax: minutesMs }, () =>
        (load?.readyCount() ?? 0) >= 5 ? true : undefined,
      );
    });
    /** The installation is shared. */
    after(async () => {
      await load?.stop();
      await life?.remove();
      await cluster.plane.request("DELETE", `/api/v1/namespaces/${namespace}`);
      shell?.remove();
      connection?.close();
    });

    const create = (place: string, name: string, claim: string, query = "") =>
      cluster.plane.request("POST", `/apis/snapshot.storage.k8s.io/v1/namespaces/${place}/volumesnapshots${query}`, {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshot",
        metadata: { name },
        spec: { volumeSnapshotClassName: "directory", source: { persistentVolumeClaimName: claim } },
      });
    /** Only the webhook rejects it. */
    const createInvalid = async (): Promise<string> => (await create("default", "invalid", "", "?dryRun=All")).text;

    function startLoad() {
      const refused: string[] = [];
      const unjudged: string[] = [];
      const failed: string[] = [];
      const createdAt = new Map<string, number>();
      const readyMs = new Map<string, number>();
      const requests = new Set<Promise<void>>();
      const stopped = new AbortController();
      const store = createStore("VolumeSnapshot");
      store.onChange((_before, after) => {
        if (after?.status?.error !== undefined) failed.push(`${after.metadata.name}: ${after.status.error.message}`);
        if (after?.status?.readyToUse !== true || readyMs.has(after.metadata.name)) return;
        readyMs.set(after.metadata.name, performance.now() - (createdAt.get(after.metadata.name) ?? 0));
      });
      const scope = { namespace };
      void watchInto(connection.client, store, { world: realWorld, log: silent, signal: stopped.signal, scope });
      const one = async (index: number): Promise<void> => {
        const name = `load-${index}`;
        createdAt.set(name, performance.now());
        const { status, text } = await create(namespace, name, claims[index % claims.length] ?? "");
        if (status !== 201) refused.push(`${name}: ${text}`);
        const judged = await createInvalid();
        if (!judged.includes("[SNAP-101]")) unjudged.push(judged);
      };
      const timer = setInterval(() => {
        const request = one(createdAt.size).finally(() => requests.delete(request));
        requests.add(request);
      }, everyMs);
      return {
        refused,
        unjudged,
        failed,
        count: () => createdAt.size,
        readyCount: () => readyMs.size,
        slowestMs: () => Math.round(Math.max(...readyMs.values())),
        finish: async () => {
          clearInterval(timer);
          await Promise.all(requests);
        },
        stop: async () => {
          clearInterval(timer);
          await Promise.allSettled(requests);
          stopped.abort();
        },
      };
    }

    const readLeases = () => Promise.all(leases.map((ref) => connection.client.get({ kind: "Lease", ...ref })));
    const transitions = async (): Promise<readonly number[]> =>
      (await readLeases()).map(({ spec }) => spec?.leaseTransitions ?? 0);

    const untilRolled = (tag: string) =>
      until({ what: `only pods of ${tag} are left, and hold the leases`, msMax: minutesMs }, async () => {
        const now = await pods();
        const isNew = ({ metadata, spec, status }: Pod): boolean =>
          metadata.deletionTimestamp === undefined &&
          spec.containers.every(({ image }) => image === `snapkeep:${tag}` || image === `snapkeep:${tag}-driver`) &&
          status?.containerStatuses?.every(({ ready }) => ready) === true;
        if (now.length !== podCount || !now.every(isNew)) return undefined;
        const isHeld = (holder = ""): boolean => now.some(({ metadata }) => holder.startsWith(`${metadata.name}_`));
        return (await readLeases()).every(({ spec }) => isHeld(spec?.holderIdentity)) ? true : undefined;
      });
    const roll = async (tag: string, apply: () => Promise<unknown>): Promise<void> => {
      const [startedAt, earlier] = [performance.now(), await transitions()];
      await apply();
      await untilRolled(tag);
      const later = await transitions();
      console.log(`rolled to ${tag} in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
      assert.deepEqual(
        later.map((count, index) => `${leases[index]?.name}: ${count - (earlier[index] ?? 0)} handovers`),
        leases.map(({ name }) => `${name}: 1 handovers`),
      );
    };

    /** As the next version's program would, with the tag that it has. */
    const applyNext = async (): Promise<void> => {
      const printed = parseAllDocuments((await of().install("--print")).out).map((document) => document.toJS());
      const workloads = printed.filter(({ kind }) => kind === "Deployment");
      assert.equal(workloads.length, 3);
      const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: workloads });
      const { code, stderr } = await cluster.kubectl(
        ["apply", "--server-side", `--field-manager=${fieldManager}`, "-f", "-"],
        { input: input.replaceAll(`snapkeep:${version}`, `snapkeep:${next}`) },
      );
      assert.equal(code, 0, stderr);
    };

    const must = async (line: string): Promise<string> => {
      const { code, stdout, stderr } = await shell(line);
      assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
      return stdout;
    };
    const goBack = async (): Promise<void> => {
      await must(guideBlock("rollout undo deployment/snapshot-controller"));
      await must("kubectl -n snapkeep-drivers rollout undo deployment/directory-driver");
    };

    test("every lease changes hands once when the next version is applied", async () => {
      await roll(next, applyNext);
      const shown = await must(guideBlock("rollout status deployment/snapshot-controller"));
      assert.match(shown, /"snapshot-controller" successfully rolled out[\s\S]*\nsnapshot-controller-\S+ \d+$/);
    });

    test("every lease changes hands once on the way back", () => roll(version, goBack));

    test("every snapshot gets ready without an error, and the webhook judges every request", async () => {
      assert.ok(load);
      await load.finish();
      const { refused, unjudged, failed, count, readyCount, slowestMs } = load;
      assert.deepEqual({ refused, unjudged }, { refused: [], unjudged: [] });
      await until({ what: "all snapshots are ready", msMax: minutesMs }, () =>
        readyCount() === count() ? true : undefined,
      );
      assert.deepEqual(failed, []);
      console.log(`${count()} snapshots, the slowest ready after ${slowestMs()} ms`);
      const contents = (await connection.client.list("VolumeSnapshotContent")).objects
        .filter(({ spec }) => spec.volumeSnapshotRef.namespace === namespace)
        .map(({ metadata }) => metadata.uid);
      const { objects } = await connection.client.list("Event", { fieldSelector: "type=Warning" });
      const warnings = objects.filter(
        ({ involvedObject: { uid = "", ...object } }) => object.namespace === namespace || contents.includes(uid),
      );
      assert.deepEqual(
        warnings.map(({ involvedObject, reason, message }) => `${involvedObject.name}: ${reason} ${message}`),
        [],
      );
    });
  });
