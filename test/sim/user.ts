/** The person at the keyboard: acts on the cluster directly, tries again after conflicts, waits for what the script waits for. */
import type { KindName } from "../../src/api/kinds.ts";
import type { Ref } from "../../src/api/plan.ts";
import type { Draft, KubeObject } from "../../src/api/types.ts";
import { isFault } from "../../src/base/fault.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { World } from "../../src/base/world.ts";
import type { Cluster } from "./cluster.ts";
import type { Seen, WatchedKind } from "./record.ts";

export interface User {
  readonly seen: Seen;
  create(kind: KindName, object: Draft): Promise<void>;
  /** Asks for deletion; nothing to delete is fine. */
  remove(kind: KindName, key: string): Promise<void>;
  /** Deletes it by a request that was there first: finalizers that have come meanwhile do not hold it. */
  snatch(kind: WatchedKind, key: string): void;
  /** Changes what is there; nothing to change is fine. */
  patch(kind: KindName, key: string, body: JsonObject, subresource?: "status"): Promise<void>;
  find(kind: WatchedKind, key: string): KubeObject | undefined;
  /** False when it does not come true in time. */
  until(is: (seen: Seen) => boolean, msMax?: number): Promise<boolean>;
  sleep(ms: number): Promise<void>;
}

export interface SimulatedUser extends User {
  /** To be called after every entry of the history. */
  look(): void;
}

const retryMs = 1_000;
const patienceMs = 600_000;
const tolerated = ["NotFound", "Conflict", "AlreadyExists", "PermissionDenied", "Invalid", "InvalidArgument"] as const;

export function createUser({ user, recorder, snatch, webhook }: Cluster, world: World): SimulatedUser {
  const waiting = new Set<() => void>();
  const note = (text: string): void =>
    recorder.take({ type: "note", atMs: world.elapsed(), what: "user", process: "user", text });
  const refOf = (kind: KindName, key: string): Ref => {
    const [name = "", namespace] = key.split("/").reverse();
    return { kind, namespace, name };
  };
  /** What the webhook's absence refuses is tried again; the server has no other bad day with its user. */
  const leniently = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (reason) {
      if (isFault(reason, "UnknownOutcome") && !webhook.isUp) {
        await world.sleep(retryMs);
        return leniently(work);
      }
      if (!isFault(reason, ...tolerated)) throw reason;
    }
  };
  return {
    seen: recorder,
    create: (kind, object) => {
      note(`creates ${kind} ${object.metadata.name}`);
      return leniently(() => user.create(kind, object));
    },
    remove: (kind, key) => {
      note(`deletes ${kind} ${key}`);
      return leniently(() => user.delete(refOf(kind, key)));
    },
    snatch: (kind, key) => {
      note(`has deleted ${kind} ${key} before its finalizers came`);
      snatch(kind, key);
    },
    patch: (kind, key, body, subresource) => {
      note(`changes ${kind} ${key}: ${JSON.stringify(body)}`);
      return leniently(() => user.patch(refOf(kind, key), { type: "merge", body }, { subresource }));
    },
    find: (kind, key) => recorder.objects(kind).get(key),
    sleep: (ms) => world.sleep(ms),
    until: (is, msMax = patienceMs) =>
      new Promise((resolve) => {
        if (is(recorder)) return resolve(true);
        const late = new AbortController();
        const look = (): void => {
          if (!is(recorder)) return;
          waiting.delete(look);
          late.abort("seen");
          resolve(true);
        };
        waiting.add(look);
        world.sleep(msMax, late.signal).then(
          () => {
            note("waits no longer");
            resolve(false);
          },
          () => undefined,
        );
      }),
    look: () => {
      for (const look of waiting) look();
    },
  };
}
