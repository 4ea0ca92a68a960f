/** Stuck objects on a real control plane: how each comes to be, and what a good answer says. */
import type { Cause } from "../../../src/cli/explain/causes.ts";
import type { Verdict } from "../../../src/cli/explain/explain.ts";
import type { Stage } from "./stage.ts";

export interface RealCase {
  readonly given: string;
  /** As it is typed: vs/monday. */
  readonly explain: string;
  /** Makes the state; the components then do what they do. */
  make(stage: Stage): Promise<unknown>;
  readonly cause: Cause;
  readonly verdict?: Verdict;
  /** Kind and name of the object on which the cause lies; "*" for a name that the components have chosen. */
  readonly at: string;
  /** What the next steps say, commands included. */
  readonly next: RegExp;
  /** As somebody who may read snapshots, and nothing else. */
  readonly asGuest?: true;
}

const anHourAgo = () => ({ seconds: BigInt(Math.floor(Date.now() / 1000) - 3_600), nanos: 1 });

/** While the Go snapshot-controller, csi-snapshotter and csi-provisioner run. */
export const casesWithGo: readonly RealCase[] = [
  {
    given: "a snapshot that has been taken",
    explain: "vs/taken",
    make: async ({ claim, snapshot }) => snapshot("taken", await claim("a")),
    cause: "NothingWrong",
    verdict: "good",
    at: "VolumeSnapshot taken",
    next: /nothing/,
  },
  {
    given: "a driver that has no room for the snapshot",
    explain: "vs/full",
    make: async ({ claim, snapshot, driverIsFullFor }) => {
      driverIsFullFor("b");
      await snapshot("full", await claim("b"));
    },
    cause: "DriverFailed",
    at: "VolumeSnapshotContent *",
    next: /pool is full/,
  },
  {
    given: "a snapshot of a claim that does not exist",
    explain: "vs/nothing",
    make: ({ snapshot }) => snapshot("nothing", "nobody"),
    cause: "ClaimNotFound",
    at: "PersistentVolumeClaim nobody",
    next: /kubectl get persistentvolumeclaims/,
  },
  {
    given: "a snapshot of a class that does not exist",
    explain: "vs/gold",
    make: async ({ claim, snapshot }) => snapshot("gold", await claim("c"), "gold"),
    cause: "ClassNotFound",
    at: "VolumeSnapshotClass gold",
    next: /kubectl get volumesnapshotclasses/,
  },
  {
    given: "a snapshot without a class where no class is the default",
    explain: "vs/classless",
    make: async ({ claim, snapshot }) => snapshot("classless", await claim("d"), ""),
    cause: "ClassNotFound",
    at: "VolumeSnapshot classless",
    next: /is-default-class/,
  },
  {
    given: "a snapshot of a class of another driver",
    explain: "vs/foreign",
    make: async ({ claim, snapshot }) => snapshot("foreign", await claim("e"), "other"),
    cause: "ClassNotUsable",
    at: "VolumeSnapshotClass other",
    next: /other\.example\.com/,
  },
  {
    given: "a snapshot of a claim that waits for its first pod",
    explain: "vs/early",
    make: async ({ unboundClaim, snapshot }) => snapshot("early", await unboundClaim("late-claim", "late")),
    cause: "WaitsForNode",
    at: "PersistentVolumeClaim late-claim",
    next: /pod/,
  },
  {
    given: "a class whose secret does not exist",
    explain: "vs/secret",
    make: async ({ claim, snapshot }) => snapshot("secret", await claim("f"), "with-secret"),
    cause: "SecretNotUsable",
    at: "Secret credentials",
    next: /kubectl get secrets -n team/,
  },
  {
    given: "a driver that has been asked a moment ago",
    explain: "vs/asked",
    make: async ({ claim, snapshot, driverIsSilentFor }) => {
      driverIsSilentFor("g");
      await snapshot("asked", await claim("g"));
    },
    cause: "NothingWrong",
    verdict: "waits",
    at: "VolumeSnapshotContent *",
    next: /wait/,
  },
  {
    given: "a taken snapshot that the driver has been uploading for an hour",
    explain: "vs/upload",
    make: async ({ claim, snapshot, driverRepliesFor }) => {
      driverRepliesFor("h", { readyToUse: false, creationTime: anHourAgo() });
      await snapshot("upload", await claim("h"));
    },
    cause: "WaitsForDriver",
    at: "VolumeSnapshotContent *",
    next: /id-of-/,
  },
  {
    given: "a deletion that the driver refuses",
    explain: "vs/kept",
    make: async ({ claim, snapshot, untilReady, driverRefusesDeletions, remove }) => {
      driverRefusesDeletions();
      await snapshot("kept", await claim("i"));
      await untilReady("kept");
      await remove("VolumeSnapshot", "kept");
    },
    cause: "DriverFailed",
    at: "VolumeSnapshotContent *",
    next: /(?=[\s\S]*kubectl logs)(?=[\s\S]*id-of-)(?=[\s\S]*Retain)/,
  },
  {
    given: "a content that was deleted while its snapshot exists",
    explain: "vsc/of-orphaned",
    make: async ({ claim, snapshot, untilReady, removeContentOf }) => {
      await snapshot("orphaned", await claim("j"));
      await untilReady("orphaned");
      await removeContentOf("orphaned");
    },
    cause: "WaitsForDeletionConfirmed",
    at: "VolumeSnapshot orphaned",
    next: /kubectl delete volumesnapshot orphaned -n team/,
  },
  {
    given: "a pre-provisioned snapshot whose content does not exist",
    explain: "vs/imported",
    make: ({ importedSnapshot }) => importedSnapshot("imported", "missing-content"),
    cause: "ContentNotFound",
    at: "VolumeSnapshotContent missing-content",
    next: /missing-content/,
  },
  {
    given: "a pre-provisioned snapshot whose content belongs to another one",
    explain: "vs/stolen",
    make: async ({ importedSnapshot, content }) => {
      await content("of-tuesday", "tuesday");
      await importedSnapshot("stolen", "of-tuesday");
    },
    cause: "ContentNotUsable",
    at: "VolumeSnapshotContent of-tuesday",
    next: /volumeSnapshotRef/,
  },
  {
    given: "a deleted snapshot from which a claim is being restored that waits for a pod",
    explain: "vs/used",
    make: async ({ claim, snapshot, untilReady, restore, remove }) => {
      await snapshot("used", await claim("k"));
      await untilReady("used");
      await restore("user-of-used", "used", { storageClassName: "late" });
      await remove("VolumeSnapshot", "used");
    },
    cause: "WaitsForNode",
    at: "PersistentVolumeClaim user-of-used",
    next: /pod/,
  },
  {
    given: "a claim for which the driver has no room",
    explain: "pvc/no-room",
    make: ({ unboundClaim }) => unboundClaim("no-room", "full"),
    cause: "DriverFailed",
    at: "PersistentVolumeClaim no-room",
    next: /pool is full/,
  },
  {
    given: "a claim of a snapshot that does not exist",
    explain: "pvc/from-nothing",
    make: ({ restore }) => restore("from-nothing", "yesterday"),
    cause: "SnapshotNotFound",
    at: "VolumeSnapshot yesterday",
    next: /kubectl get volumesnapshots/,
  },
  {
    given: "a claim of a storage class that does not exist",
    explain: "pvc/no-class",
    make: ({ unboundClaim }) => unboundClaim("no-class", "gone"),
    cause: "ClassNotFound",
    at: "StorageClass gone",
    next: /kubectl get storageclasses/,
  },
  {
    given: "a claim that is smaller than its snapshot",
    explain: "pvc/small",
    make: async ({ claim, snapshot, untilReady, restore }) => {
      await snapshot("large", await claim("l"));
      await untilReady("large");
      await restore("small", "large", { storage: "1Ki" });
    },
    cause: "Invalid",
    at: "PersistentVolumeClaim small",
    next: /1048576|1Mi/,
  },
];

/** The webhook would keep others from their contents. */
export const lastCasesWithGo: readonly RealCase[] = [
  {
    given: "a webhook that does not answer and refuses every write",
    explain: "vs/refused",
    make: async ({ claim, snapshot, deadWebhook }) => {
      const source = await claim("q");
      await deadWebhook("validation.snapshots.example.com");
      await snapshot("refused", source);
    },
    cause: "WebhookDown",
    at: "ValidatingWebhookConfiguration validation.snapshots.example.com",
    next: /webhook/,
  },
];

/** The Go snapshot-controller has been killed. */
export const casesAfterGo: readonly RealCase[] = [
  {
    given: "a snapshot that was created after the snapshot-controller was killed",
    explain: "vs/unseen",
    make: ({ snapshot }) => snapshot("unseen", "a"),
    cause: "ComponentDown",
    at: "Lease snapshot-controller-leader",
    next: /snapshot-controller/,
  },
];

/** While our snapshot-controller and csi-snapshotter run, with the rights of their manifests. */
export const casesWithOurs: readonly RealCase[] = [
  {
    given: "our components and a driver that has no room",
    explain: "vs/full-2",
    make: async ({ claim, snapshot, driverIsFullFor }) => {
      driverIsFullFor("m");
      await snapshot("full-2", await claim("m"));
    },
    cause: "DriverFailed",
    at: "VolumeSnapshotContent *",
    next: /pool is full/,
  },
  {
    given: "a secret that our csi-snapshotter may not read",
    explain: "vs/secret-2",
    make: async ({ claim, snapshot, secret }) => {
      await secret("locked");
      await snapshot("secret-2", await claim("n"), "with-locked-secret");
    },
    cause: "NotPermitted",
    at: "VolumeSnapshotContent *",
    next: /kubectl create role \S+ \S+ --resource=secrets --resource-name=locked -n team[\s\S]*rolebinding/,
  },
  {
    given: "a driver for which no csi-snapshotter was ever installed",
    explain: "vs/driverless",
    make: async ({ claim, snapshot }) => snapshot("driverless", await claim("o", "other.example.com"), "other"),
    cause: "ComponentDown",
    at: "VolumeSnapshotContent *",
    next: /csi-snapshotter/,
  },
  {
    given: "a deleted snapshot with the finalizer of a backup tool",
    explain: "vs/backed-up",
    make: async ({ claim, snapshot, untilReady, hold, remove }) => {
      await snapshot("backed-up", await claim("p"));
      await untilReady("backed-up");
      await hold("backed-up", "backup.example.com/keep");
      await remove("VolumeSnapshot", "backed-up");
    },
    cause: "ForeignFinalizer",
    at: "VolumeSnapshot backed-up",
    next: /backup\.example\.com\/keep/,
  },
  {
    given: "a content that the caller may not read",
    explain: "vs/upload",
    make: async () => undefined,
    cause: "NotReadable",
    verdict: "unknown",
    at: "VolumeSnapshotContent *",
    next: /(?=[\s\S]*kubectl create clusterrole \S+ \S+ --resource=volumesnapshotcontents\.snapshot\.storage\.k8s\.io)(?=[\s\S]*--user=guest)/,
    asGuest: true,
  },
  {
    given: "a kind whose definition is not installed",
    explain: "sharedsecret/licence",
    make: async () => undefined,
    cause: "KindNotServed",
    at: "SharedSecret licence",
    next: /snapkeep (crds|install)/,
  },
];
