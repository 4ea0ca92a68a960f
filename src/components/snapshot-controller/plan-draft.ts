/** The content that is created for a snapshot of a claim. */
import { draftOf } from "../../api/builders.ts";
import { apiVersionOf } from "../../api/kinds.ts";
import { annotations, finalizers, labels, snapshotContentNameFor } from "../../api/names.ts";
import type { Draft, VolumeSnapshotContent } from "../../api/types.ts";
import { deletionSecretOf } from "../../rules/creation-rules.ts";
import { classOf } from "../../rules/snapshot-violation.ts";
import { creationAnnotations } from "./active-sidecars.ts";
import type { SnapshotMemory } from "./memory.ts";
import type { SnapshotFacts } from "./observe.ts";

/** Its name comes from the snapshot's uid: creating it twice is harmless, and a later snapshot of the same name never gets it. */
export function contentFor(
  facts: SnapshotFacts,
  { activeSidecar }: Pick<SnapshotMemory, "activeSidecar">,
): Draft<VolumeSnapshotContent> {
  const { snapshot, volume, place } = facts;
  const chosen = classOf(facts);
  const csi = volume?.spec?.csi;
  // The creation rules hold: the snapshot would be invalid otherwise.
  if (chosen === undefined || csi === undefined) throw new Error("a content needs a class and a CSI volume");
  const secret = deletionSecretOf(chosen, snapshot);
  const needsSecret = secret.kind === "secret";
  const notes = {
    ...(needsSecret && {
      [annotations.deletionSecretName]: secret.secret.name,
      [annotations.deletionSecretNamespace]: secret.secret.namespace,
    }),
    ...creationAnnotations(activeSidecar, needsSecret),
  };
  const metadata = {
    name: snapshotContentNameFor(snapshot.metadata.uid),
    finalizers: [finalizers.contentBound],
    ...(Object.keys(notes).length === 0 ? {} : { annotations: notes }),
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
      ...(volume?.spec?.volumeMode === undefined || !facts.keepsVolumeMode
        ? {}
        : { sourceVolumeMode: volume.spec.volumeMode }),
    },
  });
}
