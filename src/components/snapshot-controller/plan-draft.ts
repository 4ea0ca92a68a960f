/** The content that is made for a snapshot of a claim. */
import { draftOf } from "../../api/builders.ts";
import { apiVersionOf } from "../../api/kinds.ts";
import { annotations, finalizers, labels, snapshotContentNameFor } from "../../api/names.ts";
import type { Draft, VolumeSnapshotContent } from "../../api/types.ts";
import { deletionSecretOf } from "../../rules/creation-rules.ts";
import { classOf } from "../../rules/snapshot-violation.ts";
import type { SnapshotView } from "./observe.ts";

/** Its name comes from the snapshot's uid, so making it twice is harmless and a namesake never inherits it. */
export function contentFor(view: SnapshotView): Draft<VolumeSnapshotContent> | undefined {
  const { snapshot, volume, place } = view;
  const chosen = classOf(view);
  const csi = volume?.spec?.csi;
  if (chosen === undefined || csi === undefined) return undefined;
  const secret = deletionSecretOf(chosen, snapshot);
  const notes =
    secret.kind === "secret"
      ? {
          [annotations.deletionSecretName]: secret.secret.name,
          [annotations.deletionSecretNamespace]: secret.secret.namespace,
        }
      : beingCreatedFor(view);
  const metadata = {
    name: snapshotContentNameFor(snapshot.metadata.uid),
    finalizers: [finalizers.contentBound],
    ...(notes === undefined ? {} : { annotations: notes }),
    ...(place.kind === "node" ? { labels: { [labels.managedBy]: place.name } } : {}),
  };
  return draftOf("VolumeSnapshotContent", metadata, {
    spec: {
      volumeSnapshotRef: {
        apiVersion: apiVersionOf("VolumeSnapshot"),
        kind: "VolumeSnapshot",
        namespace: snapshot.metadata.namespace ?? "",
        name: snapshot.metadata.name,
        uid: snapshot.metadata.uid,
        resourceVersion: snapshot.metadata.resourceVersion,
      },
      source: { volumeHandle: csi.volumeHandle },
      volumeSnapshotClassName: chosen.metadata.name,
      deletionPolicy: chosen.deletionPolicy,
      driver: chosen.driver,
      ...(volume?.spec?.volumeMode === undefined || !view.keepsVolumeMode
        ? {}
        : { sourceVolumeMode: volume.spec.volumeMode }),
    },
  });
}

/**
 * Born with the mark of the cut, for a sidecar that is known to be at work: it need not write one. Not where a secret is needed. If
 * that cannot be read, the driver cannot be asked, and a successor of the sidecar could not tell whether it ever was.
 */
const beingCreatedFor = ({ activeSidecar }: SnapshotView) =>
  activeSidecar === undefined
    ? undefined
    : { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: activeSidecar };
