/** docs/guides/cross-namespace.md, tried as it says: on a laptop, with the objects as they stand there. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { draftOf } from "../src/api/builders.ts";
import type { JsonObject } from "../src/base/json.ts";
import { realWorld } from "../src/base/world.ts";
import { createResources } from "../src/cli/install/resources.ts";
import { createClient } from "../src/kube/client.ts";
import { loadConfig } from "../src/kube/config.ts";
import { createTransport } from "../src/kube/transport.ts";
import { startCommand } from "./command-line.ts";
import { eventually, temporaryFolder } from "./csi-sockets.ts";

const guide = readFileSync(join(import.meta.dirname, "../docs/guides/cross-namespace.md"), "utf8");
const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) =>
  parseAllDocuments(text).map((document) => document.toJS() as JsonObject),
);
const [[grant = {}] = [], [direct = {}] = [], [link = {}, linked = {}] = [], rules = [], ...more] = blocks;

test("both ways of the guide restore a snapshot of another namespace, each with its own grant and not with the other's", async (t) => {
  assert.equal(rules.length, 1, "the rights are one list, which test/guide-rights.ts reads");
  assert.deepEqual(more, []);
  const kubeconfig = join(temporaryFolder(t), "kubeconfig");
  const up = startCommand("up", "--tour=false", "--kubeconfig-out", kubeconfig);
  await eventually("it stays up", () => up.said.text.includes("Ctrl-C ends it"));
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, environment: {}, world: realWorld }));
  t.after(async () => {
    close();
    up.stop();
    await up.code;
  });
  const client = createClient({ handler, world: realWorld });
  const resources = createResources(client, new AbortController().signal);
  const apply = (object: JsonObject) => resources.apply(object as never);
  for (const name of ["prod", "test"]) await client.create("Namespace", draftOf("Namespace", { name }, {}));
  const claimIn = (namespace: string, name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const phaseOf = async (namespace: string, name: string) => (await client.get(claimIn(namespace, name))).status?.phase;
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Mi" } } };
  await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", claimIn("prod", "foo"), { spec }));
  await eventually("the source is bound", async () => (await phaseOf("prod", "foo")) === "Bound");
  const snapshot = { kind: "VolumeSnapshot", namespace: "prod", name: "foo-backup" } as const;
  const source = { source: { persistentVolumeClaimName: "foo" } };
  await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", snapshot, { spec: source }));
  await eventually("the snapshot is ready", async () => (await client.get(snapshot)).status?.readyToUse === true);

  const isDenied = async (): Promise<boolean> => {
    const { objects } = await client.list("Event", { namespace: "test" });
    return objects.some(({ message }) => message?.includes("[SNAP-361]") === true);
  };
  await apply(direct);
  await eventually("without a grant the claim waits, and its event says why", isDenied);
  assert.equal(await phaseOf("test", "foo-testing"), "Pending");
  await apply(grant);
  await eventually(
    "with the owner's grant it is bound",
    async () => (await phaseOf("test", "foo-testing")) === "Bound",
  );

  await client.delete(claimIn("test", "foo-testing"));
  const isGone = () =>
    client.get(claimIn("test", "foo-testing")).then(
      () => false,
      () => true,
    );
  await eventually("the claim is gone", isGone);
  await apply(link);
  await apply(linked);
  const { uid } = (await client.get(claimIn("test", "foo-testing"))).metadata;
  await eventually("the grant for the one way does not serve the other, and an event says so", async () =>
    (await client.list("Event", { namespace: "test" })).objects.some(
      ({ involvedObject, message }) => involvedObject.uid === uid && message?.includes("[SNAP-36") === true,
    ),
  );
  assert.equal(await phaseOf("test", "foo-testing"), "Pending");
  const [, from] = /\| the grant is `from` \|.*\| `group: (\S+)`, `kind: VolumeSnapshotLink` \|/.exec(guide) ?? [];
  const lent = structuredClone(grant) as { spec: { from: object[] } };
  lent.spec.from = [{ group: from, kind: "VolumeSnapshotLink", namespace: "test" }];
  await apply(lent as unknown as JsonObject);
  await eventually(
    "with the grant for links it is bound",
    async () => (await phaseOf("test", "foo-testing")) === "Bound",
  );
});
