/**
 * What only an API server can tell: which default classes there are, whether it keeps the namespace of a data source, and which user
 * this webhook is. All are learnt in the background and never while judging. Without API access these checks are off; nothing else changes.
 *
 * Memory: the classes of the cluster, one boolean and one user. All are learnt again after a restart; until then default classes are
 * allowed with a warning, and a namespace is refused.
 */
import { draftOf } from "../../api/builders.ts";
import { keyOf, type VolumeSnapshotClass } from "../../api/types.ts";
import { backoffMs } from "../../base/backoff.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import { whoAmI } from "../../kube/access.ts";
import type { KubeApi, PathAsker } from "../../kube/api.ts";
import { createStore } from "../../kube/store.ts";
import { watchInto } from "../../kube/stores.ts";
import { defaultClassDriver } from "../../rules/snapshot-rules.ts";
import { probeName, serviceAccountNamespace, type UserInfo } from "./own-probe.ts";

export interface ApiFacts {
  /** Names of other default classes of a driver; undefined while that is not known. */
  otherDefaults(driver: string, name: string): readonly string[] | undefined;
  /** Whether the API server keeps spec.dataSourceRef.namespace of a claim. What is not known counts as no. */
  keepsSourceNamespace(): boolean;
  /** The user that sends the dry run; undefined while that is not known. */
  self(): UserInfo | undefined;
  /** Learns until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ApiFactsOptions {
  readonly world: World;
  readonly log: Log;
  /**
   * Where claims are created by dry run, by a user that is not a service account: that has a Role in its own namespace. Undefined: whether
   * namespaces are kept is not asked.
   */
  readonly probeNamespace: string | undefined;
  /** Waits until there is an API server; throws where none is configured. */
  connect(signal: AbortSignal): Promise<{ readonly api: Api }>;
}

type Api = KubeApi & PathAsker;

const gateUnknown = "cannot detect whether claims may name sources of other namespaces; such claims are rejected";
const selfUnknown = "cannot tell which user this webhook is; its own dry run is judged like any claim";

const probeEveryMs = 600_000;
/** The first dry runs can come before the Service sends anything to this replica, or to a replica of an older release. */
const retry = { startMs: 1_000, maxMs: probeEveryMs } as const;

export function createApiFacts({ world, log, probeNamespace, connect }: ApiFactsOptions): ApiFacts {
  const classes = createStore("VolumeSnapshotClass", {
    log,
    indexes: { defaultOf: (object: VolumeSnapshotClass) => defaultClassDriver(object as unknown as JsonObject) },
  });
  let access: "unknown" | "none" | "synced" = "unknown";
  let keepsNamespace = false;
  classes.whenSynced.then(
    () => {
      access = "synced";
    },
    () => undefined,
  );

  let self: UserInfo | undefined;
  /** The last complaint of each sort: each is a line when it begins, not at every attempt. */
  const complaints = new Map<string, string>();
  const complain = (complaint: string, reason: unknown, remedy: string): void => {
    const { message } = Fault.from(reason);
    if (complaints.get(complaint) !== message) log.warn(complaint, { reason: message, remedy });
    complaints.set(complaint, message);
  };

  const learnSelf = async (api: Api, signal: AbortSignal): Promise<void> => {
    try {
      self = await whoAmI(api, { signal });
      complaints.delete(selfUnknown);
    } catch (reason) {
      // The dry run is sent all the same: without a configuration for claims nobody judges it.
      if (!signal.aborted)
        complain(selfUnknown, reason, "let this user create selfsubjectreviews, as system:basic-user does");
    }
  };
  /** Returns whether the question was answered. */
  const probe = async (api: Api, otherwise: string, signal: AbortSignal): Promise<boolean> => {
    await learnSelf(api, signal);
    const namespace = (self && serviceAccountNamespace(self)) ?? otherwise;
    try {
      const keeps = await keepsSourceNamespace(api, namespace, signal);
      if (keeps !== keepsNamespace)
        log.info("feature gate of the API server", { CrossNamespaceVolumeDataSource: keeps });
      keepsNamespace = keeps;
      complaints.delete(gateUnknown);
      return true;
    } catch (reason) {
      keepsNamespace = false;
      const remedy = `let this user create persistentvolumeclaims in namespace ${namespace}, or set --cross-namespace-gate`;
      if (!signal.aborted) complain(gateUnknown, reason, remedy);
      return false;
    }
  };
  const probeRegularly = async (api: Api, signal: AbortSignal): Promise<void> => {
    let failures = 0;
    while (probeNamespace !== undefined && !signal.aborted) {
      failures = (await probe(api, probeNamespace, signal)) ? 0 : failures + 1;
      const pauseMs = failures === 0 ? probeEveryMs : backoffMs(retry, failures - 1, world.random());
      await world.sleep(pauseMs, signal).catch(() => undefined);
    }
  };

  return {
    otherDefaults: (driver, name) => {
      if (access === "none") return [];
      if (access === "unknown") return undefined;
      return classes
        .keysBy("defaultOf", driver)
        .filter((key) => key !== keyOf({ metadata: { name } }))
        .map(String);
    },
    keepsSourceNamespace: () => keepsNamespace,
    self: () => self,
    watch: async (signal) => {
      try {
        const { api } = await connect(signal);
        await Promise.all([watchInto(api, classes, { world, log, signal, scope: {} }), probeRegularly(api, signal)]);
      } catch (reason) {
        if (signal.aborted) return;
        access = "none";
        log.warn("no API access: default classes are not checked, and sources of other namespaces are refused", {
          reason: Fault.from(reason).message,
        });
      }
    },
  };
}

/** A server that drops the namespace drops the whole source; a dry run stores nothing. */
async function keepsSourceNamespace(api: KubeApi, namespace: string, signal: AbortSignal): Promise<boolean> {
  const source = {
    apiGroup: "snapshot.storage.k8s.io",
    kind: "VolumeSnapshot",
    name: "probe",
    namespace: `${namespace}-probe`.slice(0, 63),
  };
  const spec = {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Mi" } },
    storageClassName: "",
    dataSourceRef: source,
  };
  const draft = draftOf("PersistentVolumeClaim", { namespace, name: probeName }, { spec });
  const created = await api.create("PersistentVolumeClaim", draft, { signal, dryRun: true });
  return (created.spec?.dataSourceRef as { namespace?: string } | undefined)?.namespace === source.namespace;
}
