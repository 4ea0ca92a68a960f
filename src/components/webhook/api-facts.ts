/**
 * What only an API server can tell: which default classes there are, and whether it keeps the namespace of a data source. Both are
 * learnt in the background and never while judging. Without API access these two checks are off; nothing else changes.
 *
 * Memory: the classes of the cluster, and one boolean. Both are learnt again after a restart; until then default classes are
 * allowed with a warning, and a namespace is refused.
 */
import { draftOf } from "../../api/builders.ts";
import { keyOf, type VolumeSnapshotClass } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createStore } from "../../kube/store.ts";
import { watchInto } from "../../kube/stores.ts";
import { defaultClassDriver } from "../../rules/snapshot-rules.ts";

export interface ApiFacts {
  /** Names of other default classes of a driver; undefined while that is not known. */
  otherDefaults(driver: string, name: string): readonly string[] | undefined;
  /** Whether the API server keeps spec.dataSourceRef.namespace of a claim. What is not known counts as no. */
  keepsSourceNamespace(): boolean;
  /** Learns until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ApiFactsOptions {
  readonly world: World;
  readonly log: Log;
  /** Where this process may create claims, by dry run only; undefined: whether namespaces are kept is not asked. */
  readonly probeNamespace: string | undefined;
  /** Waits until there is an API server; throws where none is configured. */
  connect(signal: AbortSignal): Promise<{ readonly api: KubeApi }>;
}

const probeEveryMs = 600_000;

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

  const probe = async (api: KubeApi, namespace: string, signal: AbortSignal): Promise<void> => {
    const keeps = await keepsSourceNamespace(api, namespace, signal).catch((reason: unknown) => {
      const { message } = Fault.from(reason);
      log.warn("cannot detect whether claims may name sources of other namespaces; such claims are rejected", {
        reason: message,
        remedy: "let this service account create claims in its namespace, or set --cross-namespace-gate",
      });
      return false;
    });
    if (keeps !== keepsNamespace) log.info("feature gate of the API server", { CrossNamespaceVolumeDataSource: keeps });
    keepsNamespace = keeps;
  };
  const probeRegularly = async (api: KubeApi, signal: AbortSignal): Promise<void> => {
    while (probeNamespace !== undefined && !signal.aborted) {
      await probe(api, probeNamespace, signal);
      await world.sleep(probeEveryMs, signal).catch(() => undefined);
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
  const draft = draftOf("PersistentVolumeClaim", { namespace, name: "snapkeep-gate-probe" }, { spec });
  const created = await api.create("PersistentVolumeClaim", draft, { signal, dryRun: true });
  return (created.spec?.dataSourceRef as { namespace?: string } | undefined)?.namespace === source.namespace;
}
