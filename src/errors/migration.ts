/** What keeps the CRDs from being moved to another phase: SNAP-6xx. */
import type { ErrorRow } from "./row.ts";

export const migrationErrorRows = {
  "SNAP-601": {
    title: "Stored objects break the strict rules",
    why: "Under strict schemas an invalid object cannot be corrected in every way, and on older clusters its finalizers cannot be removed.",
    fix: "correct or delete the objects that snapkeep audit lists, then migrate again",
  },
  "SNAP-602": {
    title: "Another tool owns the CRDs",
    why: "A package manager, an operator or a GitOps tool would write its own CRDs again, perhaps in the middle of the migration.",
    fix: "take the CRDs out of that tool, or let it install the CRDs of snapkeep crds",
    more: "With --force-conflicts the migration goes on anyway.",
  },
  "SNAP-603": {
    title: "The CRDs are newer than this release",
    why: "They have versions or fields that this release does not know. Its own CRDs would prune these fields from every object.",
    fix: "use a release of snapkeep that knows them",
  },
  "SNAP-604": {
    title: "A client still writes v1beta1",
    why: "Once v1beta1 is not served any more, that client fails.",
    fix: "upgrade the client, and migrate again when it has written nothing for the time of --old-client-window",
    more: "Or keep v1beta1 with --to-phase=2 --serve-v1beta1.",
  },
  "SNAP-605": {
    title: "There is no way back from the CRDs' phase",
    why: "Phase 1 is the first one. And once v1beta1 has left spec.versions, clients may store what v1beta1 never had.",
    fix: "stay in this phase",
    more: "Invalid objects can be deleted in every phase.",
  },
  "SNAP-606": {
    title: "Another run of migrate has taken over",
    why: "Two runs may have different goals. The later one continues, the earlier one stops before its next write.",
    fix: "wait for the other run",
    more: "If it was killed, run snapkeep migrate again: it continues.",
  },
  "SNAP-607": {
    title: "The goal lies on the other side of the CRDs' phase",
    why: "A step back is a decision of its own, and so is one forwards.",
    fix: "add --rollback to go back, and leave it out to go on",
  },
  "SNAP-608": {
    title: "Stored objects cannot be rewritten",
    why: "A version leaves status.storedVersions only when every object is stored in the other one.",
    fix: "do what the message of each object says, then run snapkeep migrate again: it continues",
  },
  "SNAP-609": {
    title: "A version is stored that this release does not know",
    why: "The objects of v1alpha1 had other fields. A CRD without that version could not read what is stored in it.",
    fix: "if no object is left of that version, remove it from status.storedVersions of the CRD",
    more: "Otherwise delete these objects first.",
  },
} as const satisfies Record<string, ErrorRow>;
