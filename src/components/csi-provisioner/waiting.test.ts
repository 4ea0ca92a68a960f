/** What the log and the gauge say of claims and volumes that wait, from the whole component on the embedded API server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Across,
  type AcrossStage,
  guest,
  owner,
  ref,
  setUpAcross,
  snapshotGroup,
} from "../../../test/across-namespaces.ts";
import { driver } from "../../../test/builders.ts";
import { createMemoryLog } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { provisioning } from "../../api/names.ts";
import type { ReasonCode } from "../../api/reasons.ts";
import { Fault } from "../../base/fault.ts";

interface Waiting {
  readonly given: string;
  readonly across?: Across;
  /** Makes what the claim `copy` waits for. */
  prepare?(stage: AcrossStage): Promise<unknown>;
  readonly claim: object;
  readonly namespace?: string;
  /** How long it takes until it waits so. */
  readonly afterMs?: number;
  readonly reason: ReasonCode;
  readonly phase: string;
  readonly says: RegExp;
}

const fromSnapshot = (name: string) => ({ dataSource: { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name } });
const aClass = (name: string, change: object) => (stage: AcrossStage) =>
  stage.world.run(
    stage.api.create("StorageClass", draftOf("StorageClass", { name }, { provisioner: driver, ...change } as never)),
  );
const withFault = (fault: Fault): Across => ({
  afterCreate: () => {
    throw fault;
  },
});
const never = new Promise<never>(() => undefined);
const hanging: Across = { before: (step) => (step === "CreateVolume" ? never : undefined) };

const cases: readonly Waiting[] = [
  {
    given: "no grant for its source",
    claim: ref(),
    reason: "NotGranted",
    phase: "wanted",
    says: /^claim test\/copy: no ReferenceGrant in namespace prod lets PersistentVolumeClaims of namespace test use VolumeSnapshot prod\/monday: .*\[SNAP-361\]$/,
  },
  {
    given: "sources with a namespace turned off",
    across: { options: { crossNamespace: false, crossNamespaceSnapshot: false } },
    claim: ref(),
    reason: "SourceNotServed",
    phase: "wanted",
    says: /^claim test\/copy: .*CrossNamespaceVolumeDataSource.*\[SNAP-336\]$/,
  },
  {
    given: "no node selected",
    prepare: aClass("late", { volumeBindingMode: "WaitForFirstConsumer" }),
    claim: { storageClassName: "late" },
    reason: "WaitsForNode",
    phase: "waiting",
    says: /^claim test\/copy: StorageClass late binds its volumes when a pod is scheduled .* create a pod that uses the claim$/,
  },
  {
    given: "no StorageClass",
    claim: { storageClassName: "missing" },
    reason: "ClassNotFound",
    phase: "wanted",
    says: /^claim test\/copy: StorageClass missing does not exist: create it \[SNAP-331\]$/,
  },
  {
    given: "a StorageClass with an unknown parameter",
    prepare: aClass("odd", { parameters: { "csi.storage.k8s.io/fast": "yes" } }),
    claim: { storageClassName: "odd" },
    reason: "ClassNotUsable",
    phase: "wanted",
    says: /^claim test\/copy: StorageClass odd has unknown parameters .*\[SNAP-332\]$/,
  },
  {
    given: "a secret that does not exist",
    prepare: aClass("secret", {
      parameters: {
        "csi.storage.k8s.io/provisioner-secret-name": "key",
        "csi.storage.k8s.io/provisioner-secret-namespace": owner,
      },
    }),
    claim: { storageClassName: "secret" },
    reason: "SecretNotUsable",
    phase: "wanted",
    says: /^claim test\/copy: secret prod\/key cannot be read: .*\[SNAP-338\]; the next attempt is at \d{4}-.*Z$/,
  },
  {
    given: "no snapshot to restore",
    claim: fromSnapshot("tuesday"),
    reason: "SnapshotNotFound",
    phase: "wanted",
    says: /^claim test\/copy: VolumeSnapshot test\/tuesday does not exist: .*\[SNAP-301\]$/,
  },
  {
    given: "a snapshot that is not ready",
    prepare: (stage) => stage.snapshot("monday", "s-1", { ready: false }),
    claim: fromSnapshot("monday"),
    namespace: owner,
    reason: "SnapshotNotReady",
    phase: "wanted",
    says: /^claim prod\/copy: VolumeSnapshot prod\/monday is not ready to use yet; .*\[SNAP-307\]$/,
  },
  {
    given: "a driver that does not answer",
    across: hanging,
    claim: {},
    afterMs: 10_000,
    reason: "WaitsForDriver",
    phase: "wanted",
    says: /^claim test\/copy: driver disk.example.com is asked to create volume pvc-/,
  },
  {
    given: "a driver that is down",
    across: withFault(new Fault("Unavailable", "the socket is closed")),
    claim: {},
    reason: "OutcomeUnknown",
    phase: "wanted",
    says: /^claim test\/copy: driver disk.example.com cannot create volume pvc-\S+: "the socket is closed" \[SNAP-341\]; the next attempt is at /,
  },
  {
    given: "a driver that has no room",
    across: withFault(new Fault("Internal", "no room")),
    claim: {},
    reason: "DriverFailed",
    phase: "wanted",
    says: /^claim test\/copy: driver disk.example.com cannot create volume pvc-\S+: "no room" \[SNAP-341\]; the next attempt is at /,
  },
];

for (const { given, across = {}, prepare, claim, namespace = guest, afterMs = 300, reason, phase, says } of cases)
  test(`given ${given}, one line of the log says ${reason}, and the gauge counts the claim`, async () => {
    const log = createMemoryLog();
    const stage = await setUpAcross({ ...across, log });
    await prepare?.(stage);
    const { metrics } = await stage.start();
    await stage.world.advance(1_000);
    await stage.claim("copy", claim, namespace);
    await stage.world.advance(afterMs);
    const decided = log.lines.filter(({ message }) => message === "decided");
    const lines = decided.filter((line) => line.reason === reason);
    assert.equal(lines.length, 1, JSON.stringify(decided, undefined, 1));
    const [line] = lines;
    assert.deepEqual([line?.level, line?.controller, line?.phase], ["debug", "csi-provisioner-claim", phase]);
    assert.match(String(line?.key), /^pvc-/);
    assert.match(String(line?.says), says);
    assert.equal(decided.at(-1), line, "it is the last decision");
    assert.deepEqual(await waitingIn(metrics), [`component="csi-provisioner",reason="${reason}"} 1`]);
    await stage.end();
  });

const waitingIn = async (metrics: () => Promise<string>): Promise<readonly string[]> =>
  (await metrics())
    .split("\n")
    .filter((line) => line.startsWith("snapkeep_waiting_objects{") && !line.endsWith(" 0"))
    .map((line) => line.replace("snapkeep_waiting_objects{", ""));

test("given a PersistentVolume whose volume the driver does not delete, one line says so, and the gauge counts it", async () => {
  const log = createMemoryLog();
  const refuse = (): never => {
    throw new Fault("FailedPrecondition", "it has snapshots");
  };
  const stage = await setUpAcross({ log, before: (step) => (step === "DeleteVolume" ? refuse() : undefined) });
  const { metrics } = await stage.start();
  await stage.world.advance(1_000);
  const spec = {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Mi" },
    persistentVolumeReclaimPolicy: "Delete",
    csi: { driver, volumeHandle: "vol-1" },
    claimRef: { kind: "PersistentVolumeClaim", namespace: guest, name: "gone", uid: "gone" },
  };
  const metadata = { name: "pv-1", finalizers: [provisioning.volumeFinalizer] };
  const volume = await stage.world.run(
    stage.api.create("PersistentVolume", draftOf("PersistentVolume", metadata, { spec } as never)),
  );
  await stage.world.run(
    stage.api.replace("PersistentVolume", { ...volume, status: { phase: "Released" } }, { subresource: "status" }),
  );
  await stage.world.advance(300);
  const lines = log.lines.filter(({ message, reason }) => message === "decided" && reason === "DriverFailed");
  assert.deepEqual(
    lines.map(({ controller, key, phase }) => [controller, key, phase]),
    [["csi-provisioner-volume", "pv-1", "deletable"]],
  );
  assert.match(
    String(lines[0]?.says),
    /^driver disk.example.com cannot delete volume pv-1: "it has snapshots" \[SNAP-351\]; the next attempt is at /,
  );
  assert.deepEqual(await waitingIn(metrics), ['component="csi-provisioner",reason="DriverFailed"} 1']);
  await stage.end();
});
