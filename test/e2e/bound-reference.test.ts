/** Without a webhook: the CRDs alone refuse another reference once the uid is written, and nothing that anybody has to write. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import type { VolumeSnapshotContent } from "../../src/api/types.ts";
import { isFault } from "../../src/base/fault.ts";
import { connect } from "./harness/client.ts";
import { installSnapshotCrds } from "./harness/components.ts";
import { installCrds } from "./harness/crds.ts";
import { startEmbeddedServer } from "./harness/embedded.ts";
import { useControlPlane } from "./harness/shared.ts";

type Reference = VolumeSnapshotContent["spec"]["volumeSnapshotRef"];
const bound: Reference = { namespace: "default", name: "mine", uid: "6a1f", kind: "VolumeSnapshot" };

const servers = {
  "real API server": async () => ({ ...(await useControlPlane()), stop: () => {} }),
  "embedded API server": () => startEmbeddedServer(),
} as const;

for (const [what, start] of Object.entries(servers))
  describe(`the reference of a content on the ${what}`, () => {
    let setting: ReturnType<typeof setUp> | undefined;
    const setUp = async () => {
      const { kubeconfig, stop } = await start();
      const { client, close } = await connect(kubeconfig);
      await installSnapshotCrds(client);
      await installCrds(client, snapshotCrds(3));
      return { client, close, stop };
    };
    const use = () => {
      setting ??= setUp();
      return setting;
    };
    after(async () => {
      const { close, stop } = await use();
      close();
      stop();
    });
    let created = 0;
    const aContent = async (volumeSnapshotRef: Reference) => {
      const { client } = await use();
      created += 1;
      const ref = { kind: "VolumeSnapshotContent", name: `bound-${created}` } as const;
      const source = { snapshotHandle: "h" };
      const spec = { driver: "none.example.com", deletionPolicy: "Retain" as const, source, volumeSnapshotRef };
      await client.create(ref.kind, draftOf(ref.kind, { name: ref.name, finalizers: ["example.com/kept"] }, { spec }));
      /** Members of null are removed. */
      const patch = (body: object) => client.patch(ref, { type: "merge", body: body as never });
      return { client, ref, patch, refer: (members: object) => patch({ spec: { volumeSnapshotRef: members } }) };
    };
    const refused = async (write: Promise<unknown>): Promise<void> => {
      const reason = await write.then(
        () => assert.fail("it was accepted"),
        (error: unknown) => error,
      );
      assert.ok(isFault(reason, "Invalid"), String(reason));
      assert.match((reason as Error).message, /volumeSnapshotRef is immutable once its uid is set/);
    };

    test("name and namespace may change until the uid is written, which binds it", async () => {
      const { refer } = await aContent({ namespace: "default", name: "first" });
      await refer({ name: "second" });
      await refer({ uid: "" });
      await refer({ namespace: "kube-system", name: "third" });
      await refer({
        uid: "6a1f",
        kind: "VolumeSnapshot",
        apiVersion: "snapshot.storage.k8s.io/v1",
        resourceVersion: "7",
      });
      await refused(refer({ name: "fourth" }));
    });

    test("once bound, no member changes or goes; everything else can be written, and the content can be deleted", async () => {
      const { client, ref, patch, refer } = await aContent(bound);
      for (const members of [
        { name: "other" },
        { namespace: "kube-system" },
        { uid: "other" },
        { uid: null },
        { uid: "" },
        { name: "other", uid: null },
        { kind: "Pod" },
        { resourceVersion: "9" },
      ])
        await refused(refer(members));
      await refer(bound);
      await patch({ metadata: { annotations: { a: "b" } }, spec: { deletionPolicy: "Delete" } });
      await client.patch(
        ref,
        { type: "merge", body: { status: { snapshotHandle: "h", readyToUse: true } } },
        { subresource: "status" },
      );
      await client.delete(ref);
      await patch({ metadata: { finalizers: null } });
      await assert.rejects(client.get(ref), (reason) => isFault(reason, "NotFound"));
    });
  });
