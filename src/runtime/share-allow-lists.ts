/**
 * The allow-lists of shares with reserved names, read once at the start: a change counts after a restart. A ConfigMap wins over
 * upstream's environment variable. Until the ConfigMaps have been read, the variables count; whether another reserved name is listed is
 * not known. The webhook refuses it then; controller and driver wait.
 *
 * Memory: both lists. They are read again after a restart.
 */

import { allowListSources, type ShareKind, shareKinds } from "../api/share-lists.ts";
import { Fault, isFault } from "../base/fault.ts";
import type { JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { KubeApi } from "../kube/api.ts";
import {
  type AllowLists,
  allowListFrom,
  allowListIn,
  dataOf,
  type ParsedAllowList,
} from "../rules/share-allow-lists.ts";

/** Where the requirement document installs the drivers; used where no namespace is given and the process runs in no pod. */
export const driverNamespace = "openshift-cluster-csi-drivers";

export interface AllowListOptions {
  readonly world: World;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The ConfigMaps are here. */
  readonly namespace: string;
  /** Waits until there is an API server; throws where none is configured. */
  connect(signal: AbortSignal): Promise<{ readonly api: Pick<KubeApi, "get">; close?(): void }>;
}

export interface AllowListReader {
  current(): AllowLists;
  /** False: the ConfigMaps may list more. */
  isRead(): boolean;
  /** Returns when the ConfigMaps have been read, or the signal aborts. */
  read(signal: AbortSignal): Promise<void>;
}

const retryMs = { start: 1_000, max: 30_000 } as const;

export function createAllowListReader(options: AllowListOptions): AllowListReader {
  const { world, log, environment, namespace } = options;
  const parsed = (kind: ShareKind, source: string, { list, skipped }: ParsedAllowList): AllowLists[ShareKind] => {
    for (const reason of skipped) log.warn("entry of an allow-list cannot be read", { kind, source, reason });
    return list;
  };
  const fromVariable = (kind: ShareKind): AllowLists[ShareKind] => {
    const { variable } = allowListSources[kind];
    return parsed(kind, variable, allowListFrom(environment[variable] ?? ""));
  };
  let lists: AllowLists = {
    SharedSecret: fromVariable("SharedSecret"),
    SharedConfigMap: fromVariable("SharedConfigMap"),
  };

  let isRead = false;
  const listOf = async (api: Pick<KubeApi, "get">, kind: ShareKind, signal: AbortSignal) => {
    const name = allowListSources[kind].configMap;
    try {
      const found = await api.get({ kind: "ConfigMap", namespace, name }, { signal });
      return parsed(kind, name, allowListIn(dataOf(found as unknown as JsonObject)));
    } catch (reason) {
      if (!isFault(reason, "NotFound")) throw reason;
      log.info("there is no ConfigMap with an allow-list; the environment variable counts", { kind, namespace, name });
      return lists[kind];
    }
  };
  const readOnce = async (signal: AbortSignal): Promise<void> => {
    const connection = await options.connect(signal);
    try {
      const [secrets, configMaps] = await Promise.all(shareKinds.map((kind) => listOf(connection.api, kind, signal)));
      if (secrets !== undefined && configMaps !== undefined)
        lists = { SharedSecret: secrets, SharedConfigMap: configMaps };
    } finally {
      connection.close?.();
    }
  };

  return {
    current: () => lists,
    isRead: () => isRead,
    async read(signal) {
      let said = "";
      for (let pauseMs: number = retryMs.start; !signal.aborted; pauseMs = Math.min(pauseMs * 2, retryMs.max)) {
        try {
          await readOnce(signal);
          isRead = true;
          log.info("allow-lists of shares read", { namespace, ...textOf(lists) });
          return;
        } catch (reason) {
          const { message } = Fault.from(reason);
          if (message !== said && !signal.aborted)
            log.warn("allow-lists of shares cannot be read; only those of the environment count", {
              namespace,
              reason: message,
              remedy: `let this service account get the ConfigMaps ${shareKinds.map((kind) => allowListSources[kind].configMap).join(" and ")}`,
            });
          said = message;
        }
        await world.sleep(pauseMs, signal).catch(() => undefined);
      }
    },
  };
}

const textOf = (lists: AllowLists): Record<string, string> =>
  Object.fromEntries(
    shareKinds.map((kind) => [
      kind,
      [...lists[kind]].map(([share, { namespace, name }]) => `${share}=${namespace}:${name}`).join(" "),
    ]),
  );
