/** How each of the known names is played: the compiler misses none of them. */
import type { Scenario } from "../harness/scenario.ts";
import { alreadyExistsOtherUid } from "./already-exists-other-uid.ts";
import { classDeletedFirst } from "./class-deleted-first.ts";
import { contentTakenByForce } from "./content-taken-by-force.ts";
import { crossNsSourceDeleteMidRestore } from "./cross-ns-source-delete-mid-restore.ts";
import { deleteAnnotationDelayed } from "./delete-annotation-delayed.ts";
import { deleteWhileCreating } from "./delete-while-creating.ts";
import { driverMismatchContent } from "./driver-mismatch-content.ts";
import { eightFailedVsDeletedAtOnce } from "./eight-failed-vs-deleted-at-once.ts";
import { finalizerPatch500 } from "./finalizer-patch-500.ts";
import { leaderPaused60sResumes } from "./leader-paused-60s-resumes.ts";
import { leakCreateTimeout } from "./leak-create-timeout.ts";
import { metricsHandlerBlocks } from "./metrics-handler-blocks.ts";
import type { ScenarioName } from "./names.ts";
import { namespaceDeletedMidCreate } from "./namespace-deleted-mid-create.ts";
import { notreadyErrorNotready } from "./notready-error-notready.ts";
import { orphanVscNoVs } from "./orphan-vsc-no-vs.ts";
import { ownWriteHotLoop } from "./own-write-hot-loop.ts";
import { policyFlipDeleteRetainDelete } from "./policy-flip-delete-retain-delete.ts";
import { pvcFromTerminatingVs } from "./pvc-from-terminating-vs.ts";
import { quickCreateDelete } from "./quick-create-delete.ts";
import { retainWithBeingDeleted } from "./retain-with-being-deleted.ts";
import { storedversionsDroppedVersion } from "./storedversions-dropped-version.ts";
import { twoWritersOneAnnotationMap } from "./two-writers-one-annotation-map.ts";
import { contentsDeletedAtOnce, veleroStyleVscRebinding } from "./velero-style-vsc-rebinding.ts";
import { vsDeletePvcPending } from "./vs-delete-pvc-pending.ts";
import { vsWithoutClassWithoutPvc } from "./vs-without-class-without-pvc.ts";

/** Every name has at least one. */
type Scenarios = readonly [Scenario, ...Scenario[]];

export const scenarios: Readonly<Record<ScenarioName, Scenarios>> = {
  // First, as long as nothing has protected the claim yet, which it would have to wait for.
  "finalizer-patch-500": [finalizerPatch500],
  "leak-create-timeout": [leakCreateTimeout],
  "delete-while-creating": [deleteWhileCreating],
  "delete-annotation-delayed": deleteAnnotationDelayed,
  "quick-create-delete": [quickCreateDelete],
  "vs-delete-pvc-pending": [vsDeletePvcPending],
  "pvc-from-terminating-vs": [pvcFromTerminatingVs],
  "eight-failed-vs-deleted-at-once": [eightFailedVsDeletedAtOnce],
  "notready-error-notready": [notreadyErrorNotready],
  "own-write-hot-loop": [ownWriteHotLoop],
  "already-exists-other-uid": [alreadyExistsOtherUid],
  "vs-without-class-without-pvc": [vsWithoutClassWithoutPvc],
  "policy-flip-delete-retain-delete": [policyFlipDeleteRetainDelete],
  "class-deleted-first": [classDeletedFirst],
  "namespace-deleted-mid-create": [namespaceDeletedMidCreate],
  "storedversions-dropped-version": [storedversionsDroppedVersion],
  "two-writers-one-annotation-map": [twoWritersOneAnnotationMap],
  "cross-ns-source-delete-mid-restore": crossNsSourceDeleteMidRestore,
  "driver-mismatch-content": [driverMismatchContent],
  "retain-with-being-deleted": [retainWithBeingDeleted],
  "orphan-vsc-no-vs": orphanVscNoVs,
  "velero-style-vsc-rebinding": [veleroStyleVscRebinding, contentsDeletedAtOnce],
  "content-taken-by-force": [contentTakenByForce],
  "leader-paused-60s-resumes": [leaderPaused60sResumes],
  "metrics-handler-blocks": [metricsHandlerBlocks],
};
