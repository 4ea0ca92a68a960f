/**
 * Roles and bindings, where the driver may watch them: a change is a reason to ask for permissions at once, and as long as nothing changes
 * they are asked for less often. Nothing of the objects is kept.
 *
 * What the watch cannot see is found by asking: other authorizers than RBAC, a watch that is dead and does not know it, and an API server
 * that answers by older roles than those that the watch has told of.
 */

import { Fault } from "../../../base/fault.ts";
import { limits } from "../../../base/limits.ts";
import type { Log } from "../../../base/log.ts";
import { controllerUnder, type World } from "../../../base/world.ts";
import { mayRead } from "../../../kube/access.ts";
import type { KubeApi, PathAsker } from "../../../kube/api.ts";
import { listAndWatch } from "../../../kube/watch.ts";

const kinds = ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"] as const;
type Kind = (typeof kinds)[number];

export interface RbacWatch {
  /** All of them are watched, and have been listed. */
  isWatching(): boolean;
  /** Looks whether they may be watched, and watches them, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface RbacWatchOptions {
  readonly api: KubeApi & PathAsker;
  readonly world: World;
  readonly log: Log;
  /** A permission may be another one: in this namespace, or anywhere; or it is not watched any more. */
  onChange(namespace: string | undefined): void;
}

export function createRbacWatch({ api, world, log, onChange }: RbacWatchOptions): RbacWatch {
  const listed = new Set<Kind>();
  const isWatching = (): boolean => listed.size === kinds.length;

  const areReadable = async (signal: AbortSignal): Promise<boolean> => {
    for (const kind of kinds) if (!(await mayRead(api, kind, { signal }))) return false;
    return true;
  };
  const watchAll = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(
      kinds.map((kind) =>
        listAndWatch(api, kind, { world, log, signal }, (seen) => {
          if (seen.kind !== "all") return onChange(seen.object.metadata.namespace);
          // What has happened before the list was not told.
          listed.add(kind);
          if (isWatching()) onChange(undefined);
        }),
      ),
    );
  };
  /** Undefined: the server has not said, and what was known before holds. */
  const look = (signal: AbortSignal): Promise<boolean | undefined> =>
    areReadable(signal).catch((reason: unknown) => {
      log.debug("cannot find out whether roles may be watched", { reason: Fault.from(reason).message });
      return undefined;
    });
  const watchWhileReadable = async (signal: AbortSignal): Promise<void> => {
    log.info("roles and bindings are watched: permissions are asked for when they change, and seldom else");
    const { own, release } = controllerUnder(signal);
    const watching = watchAll(own.signal);
    do await world.sleep(limits.optionalKindRecheckMs, signal).catch(() => undefined);
    while (!signal.aborted && (await look(signal)) !== false);
    own.abort(new Fault("Cancelled", "roles and bindings may not be watched any more"));
    await watching;
    release();
    listed.clear();
    onChange(undefined);
  };

  return {
    isWatching,
    async run(signal) {
      while (!signal.aborted) {
        const isReadable = await look(signal);
        if (isReadable === true) await watchWhileReadable(signal);
        else {
          const ms = isReadable === false ? limits.optionalKindRecheckMs : limits.optionalKindRetryMs;
          await world.sleep(ms, signal).catch(() => undefined);
        }
      }
    },
  };
}
