/**
 * The door of the Kubernetes client for other programs, published as `snapkeep/kube`: keep-alive connections, writes that name the version
 * they were decided for, lists and watches that never give up, caches that never go back to an older version, and leader election.
 * What the server has not confirmed is a Fault, and its code says whether it may have happened.
 */
import { realWorld, type World } from "../base/world.ts";
import { createClient } from "./client.ts";
import { loadConfig } from "./config.ts";
import type { Environment } from "./target.ts";
import { createTransport } from "./transport.ts";

export { draftOf } from "../api/builders.ts";
export type { KindName } from "../api/kinds.ts";
export type { Patch, Ref } from "../api/plan.ts";
export type { KubeObject, ObjectOf } from "../api/types.ts";
export { Fault, type FaultCode, isFault } from "../base/fault.ts";
export { type Log, silent } from "../base/log.ts";
export { realWorld, type World } from "../base/world.ts";
export type { KubeApi } from "./api.ts";
export { createClient } from "./client.ts";
export { createEventRecorder } from "./events.ts";
export { lead } from "./lease.ts";
export { allSynced, createStores, watchStores } from "./stores.ts";

export interface ClusterOptions {
  /** This file and no other; absent: the files of KUBECONFIG, ~/.kube/config, or the service account of the pod. */
  readonly kubeconfig?: string;
  /** Instead of the file's current context. */
  readonly context?: string;
  /** `process.env`: where KUBECONFIG and HOME are looked up. Absent: nothing is. */
  readonly environment?: Environment;
  /** Up to the first slash it also is the default field manager. */
  readonly userAgent?: string;
  readonly world?: World;
}

export interface Cluster {
  readonly api: ReturnType<typeof createClient>;
  /** Closes every connection, also those in use. */
  close(): void;
}

export async function connectToCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { kubeconfig, context, environment = {}, userAgent = "snapkeep-kube", world = realWorld } = options;
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, context, environment, world }));
  return { api: createClient({ handler, world, userAgent }), close };
}
