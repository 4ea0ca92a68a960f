/**
 * The ids of volumes as the driver has answered them: one id for two names belongs to the first, and of two ids for one name the first is
 * left over. Nobody else knows of that volume.
 *
 * Memory: an id for each reply that counts, and for each of the last names. What is lost with it: a volume stays at the driver.
 */
import { createLru } from "../../../base/lru.ts";
import type { CsiReply } from "../../../runtime/reply-cache.ts";
import type { VolumeName } from "../identity.ts";
import type { VolumeAnswer } from "./call.ts";
import type { TargetUid } from "./target.ts";

type Reply = CsiReply<VolumeAnswer>;

export interface AnsweredIds {
  /** The reply takes the place of the one before. */
  note(uid: TargetUid, reply: Reply): void;
  /** The reply counts no more: another volume may have the id first. */
  release(uid: TargetUid, reply: Reply | undefined): void;
  /** Another name, to which the driver has answered the id of this reply first. */
  sharerOf(name: VolumeName, reply: Reply | undefined): string | undefined;
  /** The id that a later one has taken the place of. */
  strayOf(name: VolumeName): string | undefined;
  forgetStray(name: VolumeName): void;
  forget(name: VolumeName): void;
}

export function createAnsweredIds(volumesMax: number): AnsweredIds {
  /** The first target to which each id was answered. */
  const owners = new Map<string, string>();
  /** The id of the last reply for each name, until that volume is deleted or stored; and the one that it took the place of. */
  const answered = createLru<string>(volumesMax);
  const strays = createLru<string>(volumesMax);
  return {
    note: (uid, reply) => {
      if (reply.kind === "deleted") answered.delete(uid);
      if (reply.kind !== "created") return;
      const { id } = reply.volume;
      const before = answered.get(uid);
      if (before !== undefined && before !== id && !owners.has(before)) strays.set(uid, before);
      answered.set(uid, id);
      if (!owners.has(id)) owners.set(id, uid);
    },
    release: (uid, reply) => {
      if (reply?.kind === "created" && owners.get(reply.volume.id) === uid) owners.delete(reply.volume.id);
    },
    sharerOf: (name, reply) => {
      const owner = reply?.kind === "created" ? owners.get(reply.volume.id) : undefined;
      return owner === name ? undefined : owner;
    },
    strayOf: (name) => strays.get(name),
    forgetStray: (name) => strays.delete(name),
    forget: (name) => answered.delete(name),
  };
}
