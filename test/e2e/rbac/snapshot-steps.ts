/** What happens to volumes and snapshots, and how each of it is seen to have happened. */
import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import type { KindName } from "../../../src/api/kinds.ts";
import { finalizers } from "../../../src/api/names.ts";
import type { Ref } from "../../../src/api/plan.ts";
import type { PersistentVolumeClaim } from "../../../src/api/types.ts";
import { Fault } from "../../../src/base/fault.ts";
import { print } from "../../../src/base/json.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import { cloning, restoring } from "../harness/claims.ts";
import { grantSpec, snapshotNamed } from "../harness/cross-namespace.ts";
import type { OddDriver } from "../harness/odd-driver.ts";
import { isThere } from "../harness/snapshots.ts";
import { idleClass, ignoreMissing, type Stage, storageClass } from "./snapshot-stage.ts";
import type { Step, Trial } from "./trial.ts";

const group = "snapshot.storage.k8s.io";
const groupMsMax = 15_000;

/** The component goes through the proxy. */
export function snapshotSteps({ client, driver }: Stage, proxyNow: () => FaultProxy | undefined) {
  const claim = (namespace: string, name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const snapshot = (namespace: string, name: string) => ({ kind: "VolumeSnapshot", namespace, name }) as const;
  const createClaim = (at: ReturnType<typeof claim>, spec: PersistentVolumeClaim["spec"] = {}) =>
    client.create(
      "PersistentVolumeClaim",
      draftOf("PersistentVolumeClaim", at, {
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: storageClass,
          resources: { requests: { storage: "1Mi" } },
          ...spec,
        },
      }),
    );
  const take = (at: ReturnType<typeof snapshot>) => {
    const spec = { source: { persistentVolumeClaimName: "data" } };
    return client.create("VolumeSnapshot", draftOf("VolumeSnapshot", at, { spec }));
  };
  const gone = (trial: Trial, ref: Ref<KindName>) =>
    trial.until(`${ref.kind} ${ref.name} is gone`, async () => ((await isThere({ client }, ref)) ? undefined : true));
  const untilBound = (trial: Trial, at: ReturnType<typeof claim>) =>
    trial.until(`claim ${at.name} is bound`, async () =>
      (await client.get(at)).status?.phase === "Bound" ? true : undefined,
    );
  const ready = (trial: Trial, at: ReturnType<typeof snapshot>) =>
    trial.until(`snapshot ${at.name} is ready`, async () =>
      (await client.get(at)).status?.readyToUse === true ? true : undefined,
    );
  const counted = (trial: Trial, name: string, reason: string) =>
    trial.until(`an event ${reason} about ${name} is counted`, async () =>
      (await client.list("Event")).objects.some(
        (event) => event.involvedObject?.name === name && event.reason === reason && (event.count ?? 0) > 1,
      )
        ? true
        : undefined,
    );
  const touch = <K extends KindName>(ref: Ref<K>) =>
    client.patch(ref, { type: "merge", body: { metadata: { annotations: { touched: String(performance.now()) } } } });

  const bound: Step = {
    check: "a claim is bound",
    prove: async (trial) => {
      await client.create("Namespace", draftOf("Namespace", { name: trial.id }, {}));
      await createClaim(claim(trial.id, "data"));
      await untilBound(trial, claim(trial.id, "data"));
    },
  };
  const taken: Step = {
    check: "a snapshot without a class becomes ready",
    prove: async (trial) => {
      await take(snapshot(trial.id, "first"));
      await ready(trial, snapshot(trial.id, "first"));
    },
  };
  const deleted: Step = {
    check: "a snapshot and its content are deleted",
    prove: async (trial) => {
      const { objects } = await client.list("VolumeSnapshot", { namespace: trial.id });
      for (const { metadata, status } of objects) {
        const ref = snapshot(trial.id, metadata.name);
        await client.delete(ref);
        await gone(trial, ref);
        await gone(trial, { kind: "VolumeSnapshotContent", name: status?.boundVolumeSnapshotContentName ?? "" });
      }
      assert.equal(driver.snapshots.size, 0, "the driver has a snapshot left");
    },
  };
  /** Without lists of the group kinds no request is denied: an ordinary snapshot, taken after the group, tells that nothing comes. */
  const grouped: Step = {
    check: "a group of one volume becomes ready, and goes with its member",
    prove: async (trial) => {
      const ref = { kind: "VolumeGroupSnapshot", namespace: trial.id, name: "group" } as const;
      await client.patch(claim(trial.id, "data"), { type: "merge", body: { metadata: { labels: { app: trial.id } } } });
      const spec = { source: { selector: { matchLabels: { app: trial.id } } } };
      await client.create("VolumeGroupSnapshot", draftOf("VolumeGroupSnapshot", ref, { spec }));
      await take(snapshot(trial.id, "beside"));
      await ready(trial, snapshot(trial.id, "beside"));
      const givesUpAt = performance.now() + groupMsMax;
      await trial.until("the group is ready", async () => {
        if ((await client.get(ref)).status?.readyToUse === true) return true;
        assert.ok(performance.now() < givesUpAt, "the group is not ready long after an ordinary snapshot is");
        return undefined;
      });
      await client.delete(ref);
      await gone(trial, ref);
      await trial.until("the member is gone", async () =>
        (await client.list("VolumeSnapshot", { namespace: trial.id })).objects.every(
          ({ metadata }) => metadata.ownerReferences === undefined,
        )
          ? true
          : undefined,
      );
    },
  };
  /** A snapshot that a claim of another namespace needs outlives one that nobody needs, deleted after it. */
  const keptFor = (way: "ref" | "link"): Step => ({
    check: `a claim of another namespace that ${way === "ref" ? "a ReferenceGrant allows" : "names a VolumeSnapshotLink"} keeps its snapshot`,
    prove: async (trial) => {
      const [needed, unneeded, guest] = [`needed-${way}`, `unneeded-${way}`, `${trial.id}-${way}`];
      await client.create("Namespace", draftOf("Namespace", { name: guest }, {}));
      const refs = [needed, unneeded].map((name) => snapshot(trial.id, name));
      for (const ref of refs) await take(ref);
      for (const ref of refs) await ready(trial, ref);
      const grant = grantSpec(needed, way, guest);
      await client.create(
        "ReferenceGrant",
        draftOf("ReferenceGrant", { namespace: trial.id, name: way }, { spec: grant }),
      );
      if (way === "link") {
        const spec = { source: { name: needed, namespace: trial.id } };
        await client.create(
          "VolumeSnapshotLink",
          draftOf("VolumeSnapshotLink", { namespace: guest, name: needed }, { spec }),
        );
      }
      const dataSourceRef =
        way === "ref"
          ? { ...snapshotNamed(needed), namespace: trial.id }
          : { apiGroup: group, kind: "VolumeSnapshotLink", name: needed };
      // Its volume is made only when the test says so: until then a CreateVolume call is stored.
      const volume = Promise.withResolvers<void>();
      driver.gates.beforeVolume = () => volume.promise;
      try {
        await createClaim(claim(guest, "restored"), { dataSourceRef } as never);
        const { status } = await trial.until("a CreateVolume call is stored", async () => {
          const seen = await client.get(snapshot(trial.id, needed));
          return seen.metadata.finalizers?.includes(finalizers.snapshotRestoring) ? seen : undefined;
        });
        const content = { kind: "VolumeSnapshotContent", name: status?.boundVolumeSnapshotContentName ?? "" } as const;
        for (const ref of refs) await client.delete(ref);
        await gone(trial, snapshot(trial.id, unneeded));
        const { metadata } = await client.get(content);
        assert.equal(metadata.deletionTimestamp, undefined, "the content that is needed is being deleted");
      } finally {
        volume.resolve();
        delete driver.gates.beforeVolume;
      }
      await gone(trial, snapshot(trial.id, needed));
    },
  });
  const waits: Step = {
    check: "an event that repeats is counted",
    prove: async (trial) => {
      await take(snapshot(trial.id, "second"));
      await ready(trial, snapshot(trial.id, "second"));
      await createClaim(claim(trial.id, "waiting"), { storageClassName: idleClass, ...restoring("second") });
      await client.delete(snapshot(trial.id, "second"));
      await trial.until("the snapshot waits", async () => {
        await touch(snapshot(trial.id, "second"));
        const { objects } = await client.list("Event", { namespace: trial.id });
        return objects.some(({ reason, count = 0 }) => reason === "SnapshotDeletePending" && count > 1)
          ? true
          : undefined;
      });
    },
  };
  /** The watch says that the claim is gone, and it is not. */
  const missedClaim: Step = {
    check: "a claim that a watch has missed keeps its snapshot",
    prove: async (trial) => {
      const [waiting, second] = [claim(trial.id, "waiting"), snapshot(trial.id, "second")];
      await trial.until("the controller asks for the claim", async () => {
        const event = { type: "DELETED", object: JSON.parse(print(await client.get(waiting))) };
        proxyNow()?.inject(`${JSON.stringify(event)}\n`, (request) =>
          /\/persistentvolumeclaims\?.*watch=/.test(request),
        );
        await touch(second);
        return trial.asked("get", "persistentvolumeclaims") > 0 ? true : undefined;
      });
      assert.ok(await isThere({ client }, second), "the snapshot that is needed is gone");
      await client.delete(waiting);
      await gone(trial, second);
    },
  };
  /** As a restored backup of the cluster leaves it. */
  const alone: Step = {
    check: "a content whose snapshot never was there can be deleted",
    prove: async (trial) => {
      const name = `alone-${trial.id}`;
      const spec = {
        driver: driver.driver,
        deletionPolicy: "Delete",
        source: { snapshotHandle: name },
        volumeSnapshotRef: { namespace: trial.id, name: "never", uid: "00000000-0000-0000-0000-000000000000" },
      };
      const content = { kind: "VolumeSnapshotContent", name } as const;
      const draft = draftOf("VolumeSnapshotContent", { name, finalizers: [finalizers.contentBound] }, {
        spec,
      } as never);
      await client.create("VolumeSnapshotContent", draft);
      await client.delete(content);
      await gone(trial, content);
    },
  };
  const reported = async (trial: Trial, at: ReturnType<typeof snapshot>): Promise<void> => {
    await trial.until(`snapshot ${at.name} has an error`, async () =>
      (await client.get(at)).status?.error === undefined ? undefined : true,
    );
    await client.delete(at);
    await gone(trial, at);
  };
  const classless: Step = {
    check: "a snapshot of a class that does not exist shows its error",
    prove: async (trial) => {
      const at = snapshot(trial.id, "classless");
      const spec = { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "unknown" };
      await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", at, { spec }));
      await reported(trial, at);
    },
  };
  const foreign: Step = {
    check: "a snapshot of a volume that no CSI driver has shows its error",
    prove: async (trial) => {
      const name = `plain-${trial.id}`;
      const spec = {
        capacity: { storage: "1Mi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/nowhere" },
        storageClassName: "",
        claimRef: { namespace: trial.id, name },
      };
      const volume = { kind: "PersistentVolume", name } as const;
      await client.create("PersistentVolume", draftOf("PersistentVolume", { name }, { spec } as never));
      await createClaim(claim(trial.id, name), { storageClassName: "", volumeName: name });
      await untilBound(trial, claim(trial.id, name));
      const at = snapshot(trial.id, "plain");
      const wish = { source: { persistentVolumeClaimName: name }, volumeSnapshotClassName: "directory" };
      await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", at, { spec: wish }));
      await reported(trial, at);
      await client.delete(claim(trial.id, name));
      await client.delete(volume);
    },
  };
  /** No sidecar is concerned with it. */
  const invalid: Step = {
    check: "a content without a handle shows its error",
    prove: async (trial) => {
      const content = { kind: "VolumeSnapshotContent", name: `invalid-${trial.id}` } as const;
      const spec = {
        driver: driver.driver,
        deletionPolicy: "Delete" as const,
        source: { snapshotHandle: "" },
        volumeSnapshotRef: { namespace: trial.id, name: "invalid" },
      };
      await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: content.name }, { spec }));
      const wish = { source: { volumeSnapshotContentName: content.name } };
      const adopted = snapshot(trial.id, "invalid");
      await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", adopted, { spec: wish }));
      await trial.until("the content has an error", async () =>
        (await client.get(content)).status?.error === undefined ? undefined : true,
      );
      await client.delete(adopted);
      await gone(trial, adopted);
      await client.delete(content);
      await gone(trial, content);
    },
  };
  const refuse = (list: keyof OddDriver["refusals"], ...messages: readonly string[]): void => {
    driver.refusals[list].push(...messages.map((message) => new Fault("Unavailable", message)));
  };
  const failingSnapshot: Step = {
    check: "a driver that refuses CreateSnapshot in turns is reported, and the event counted",
    prove: async (trial) => {
      refuse("create", "not now", "nor now", "not now", "nor now");
      await take(snapshot(trial.id, "refused"));
      await ready(trial, snapshot(trial.id, "refused"));
      const { status } = await client.get(snapshot(trial.id, "refused"));
      await counted(trial, status?.boundVolumeSnapshotContentName ?? "", "SnapshotCreationFailed");
    },
  };
  const failingVolume: Step = {
    check: "a driver that refuses CreateVolume in turns is reported, and the event counted",
    prove: async (trial) => {
      refuse("createVolume", "not now", "nor now", "not now", "nor now");
      await createClaim(claim(trial.id, "refused"));
      await untilBound(trial, claim(trial.id, "refused"));
      await counted(trial, "refused", "ProvisioningFailed");
    },
  };
  const unseen: Step = {
    check: "a snapshot is restored while the watch of contents is silent",
    prove: async (trial) => {
      proxyNow()?.stall((request) => /\/volumesnapshotcontents\?.*watch=/.test(request));
      await take(snapshot(trial.id, "unseen"));
      await ready(trial, snapshot(trial.id, "unseen"));
      await createClaim(claim(trial.id, "unseen"), restoring("unseen"));
      await untilBound(trial, claim(trial.id, "unseen"));
    },
  };
  const unread: Step = {
    check: "a snapshot is restored without a read, and is protected meanwhile",
    prove: async (trial) => {
      let isProtected = false;
      driver.gates.beforeVolume = async () => {
        const { metadata } = await client.get(snapshot(trial.id, "first"));
        isProtected = metadata.finalizers?.includes(finalizers.snapshotRestoring) === true;
      };
      await createClaim(claim(trial.id, "unread"), restoring("first"));
      await untilBound(trial, claim(trial.id, "unread"));
      delete driver.gates.beforeVolume;
      assert.ok(isProtected, "the snapshot could be deleted while it is restored");
      for (const resource of ["volumesnapshots", "volumesnapshotcontents"])
        assert.equal(trial.asked("get", resource), 0, `${resource} were read`);
    },
  };
  /** The write that protects the snapshot meets a newer version, and the watch does not tell of it. */
  const restored: Step = {
    check: "a snapshot is restored, and protected, while the watch of snapshots is silent",
    prove: async (trial) => {
      proxyNow()?.stall((request) => /\/volumesnapshots\?.*watch=/.test(request));
      await touch(snapshot(trial.id, "first"));
      await createClaim(claim(trial.id, "restored"), restoring("first"));
      await untilBound(trial, claim(trial.id, "restored"));
    },
  };
  const cloned: Step = {
    check: "a claim is cloned, and protected meanwhile",
    prove: async (trial) => {
      await createClaim(claim(trial.id, "cloned"), cloning("data"));
      await untilBound(trial, claim(trial.id, "cloned"));
    },
  };
  const unclaimed: Step = {
    check: "volumes are deleted with their claims",
    prove: async (trial) => {
      for (const name of ["unread", "restored", "unseen", "cloned", "refused", "data"])
        await client.delete(claim(trial.id, name)).catch(ignoreMissing);
      await trial.until("the driver has no volume", async () => (driver.volumes.size === 0 ? true : undefined));
      await trial.until("no PersistentVolume is left", async () =>
        (await client.list("PersistentVolume")).objects.length === 0 ? true : undefined,
      );
    },
  };
  return {
    bound,
    taken,
    invalid,
    classless,
    foreign,
    deleted,
    waits,
    missedClaim,
    alone,
    failingSnapshot,
    failingVolume,
    unseen,
    unread,
    restored,
    cloned,
    unclaimed,
    keptFor,
    grouped,
  };
}
