/** I-35 to I-39: no secret leaks, one bad object affects no other, one writer at a time, no lost updates, no more than what ships. */
import { annotations, labels, oldInvalidLabels, provisioning } from "../../../src/api/names.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import { equal } from "../../../src/base/json.ts";
import type { Seen } from "../record.ts";
import { lackedRight } from "../shipped-rights.ts";
import { isOurs, type Monitor } from "./monitor.ts";

const secretIn = (seen: Seen, text: () => string): string | undefined => {
  if (seen.secrets.length === 0) return undefined;
  const shown = text();
  return seen.secrets.some((secret) => shown.includes(secret)) ? "a secret is shown" : undefined;
};
const printed = (value: unknown): string =>
  JSON.stringify(value, (_, item) => (typeof item === "bigint" ? String(item) : item)) ?? "";

const noSecretOut: Monitor = {
  id: "I-35",
  promise: "no secret appears in a log, an event or an object",
  counter: "secrets seen",
  onWrite: (write, seen) => (isOurs(write) ? secretIn(seen, () => printed(write.after)) : undefined),
  onNote: (note, seen) => (note.what === "said" ? secretIn(seen, () => note.text) : undefined),
};

const isolation: Monitor = {
  id: "I-36",
  promise: "no object can crash a component or cause an internal error",
  onNote: (note) => (note.what === "ended" ? `${note.process}: ${note.text}` : undefined),
};

const holderOf = (seen: Seen, component: string): string | undefined =>
  (seen.objects("Lease").get(`kube-system/${component}`) as { spec?: { holderIdentity?: string } } | undefined)?.spec
    ?.holderIdentity;

const singleWriter: Monitor = {
  id: "I-37",
  promise: "only the leader sends writes and calls, and every write names the version it was decided for",
  onWrite: (write) =>
    isOurs(write) && write.kind !== "Lease" && !write.guarded()
      ? `${write.verb} ${write.kind} ${write.key} does not name the version it was decided for`
      : undefined,
  onNote(note, seen) {
    // Events tell of what was done while leading; they change nothing, and neither do questions.
    if (
      note.what !== "call" ||
      seen.objects("Lease").size === 0 ||
      note.text.endsWith("/events") ||
      note.text.endsWith("/selfsubjectaccessreviews") ||
      // Its path does not tell whether it is of an election; and nothing is sent before the next write.
      /^POST .*\/leases$/.test(note.text) ||
      !/^(POST|PUT|PATCH|DELETE|Create|Delete)/.test(note.text)
    )
      return undefined;
    const component = note.process.replace(/\.\d+$/, "");
    const holder = holderOf(seen, component);
    return holder === undefined || holder === note.process
      ? undefined
      : `${note.process} acts while ${holder || "nobody"} leads`;
  },
};

const ownNotes: Readonly<Record<string, readonly string[]>> = {
  "csi-snapshotter": [annotations.beingCreated, annotations.snapshotterId, annotations.formerSnapshotterId],
  "csi-provisioner": [provisioning.selectedNode],
  "snapshot-controller": [annotations.beingDeleted, labels.invalidSnapshot, labels.invalidContent, ...oldInvalidLabels],
};
const othersStatus = ["volumeGroupSnapshotHandle", "volumeGroupSnapshotName"];

function erased(before: KubeObject, after: KubeObject, actor: string): string | undefined {
  for (const field of ["labels", "annotations"] as const) {
    const [old = {}, now = {}] = [before.metadata[field], after.metadata[field]];
    const key = Object.keys(old).find((name) => old[name] !== now[name] && !ownNotes[actor]?.includes(name));
    if (key !== undefined) return `${field.slice(0, -1)} ${key}`;
  }
  if (!equal(before.metadata.ownerReferences, after.metadata.ownerReferences)) return "ownerReferences";
  const [old = {}, now = {}] = [before, after].map((object) => (object as { status?: Record<string, unknown> }).status);
  const field = othersStatus.find((name) => old[name] !== undefined && old[name] !== now[name]);
  return field === undefined ? undefined : `status.${field}`;
}

const noLostUpdate: Monitor = {
  id: "I-38",
  promise: "no write removes data of another writer",
  onWrite(write) {
    if (!isOurs(write) || write.before === undefined || write.after === undefined || write.kind === "Lease")
      return undefined;
    const what = erased(write.before, write.after, write.actor);
    return what === undefined ? undefined : `${write.actor} erased ${what} of ${write.kind} ${write.key}`;
  },
};

const shippedRights: Monitor = {
  id: "I-39",
  promise: "components send no request that the roles of the manifests do not allow",
  onNote({ what, process, text }) {
    const [, method, path] = (what === "call" && /^([A-Z]+) (\/.*)$/.exec(text)) || [];
    if (method === undefined || path === undefined) return undefined;
    const right = lackedRight(process.replace(/\.\d+$/, ""), method, path);
    return right === undefined ? undefined : `${process} may not ${right}`;
  },
};

export const operation: readonly Monitor[] = [noSecretOut, isolation, singleWriter, noLostUpdate, shippedRights];
