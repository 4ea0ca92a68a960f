/** One replica of a component: a process that is started again however it ends, and a proxy of its own to the API server. */
import { closeSync, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CsiRelay } from "../../csi-relay.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import { startComponent } from "../harness/components.ts";
import type { ControlPlane } from "../harness/control-plane.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import type { Daemon } from "../harness/instance.ts";

export type ComponentName = "snapshot-controller" | "csi-snapshotter" | "csi-provisioner";

/** How a life ended. Only the last one is wrong. */
export type End =
  | { readonly how: "killed" }
  | { readonly how: "lost the lease" }
  | { readonly how: "by itself"; readonly lastOutput: string };

export interface Replica {
  readonly component: ComponentName;
  /** The user it is to the API server: the audit log knows it by this. */
  readonly user: string;
  readonly proxy: FaultProxy;
  /** Between it and the driver; absent where it has none. */
  readonly relay?: CsiRelay | undefined;
  readonly ends: readonly End[];
  /** The name it stands for election under; undefined while it has not said so, or does not run. */
  identity(): string | undefined;
  running(): boolean;
  kill(restartAfterMs: number): Promise<void>;
  /** SIGSTOP, and SIGCONT. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly plane: ControlPlane;
  readonly component: ComponentName;
  readonly user: string;
  readonly token: string;
  readonly relay?: CsiRelay | undefined;
  readonly flags: readonly string[];
}

/** As a cluster would, only sooner. */
const restartMs = 300;

export async function startReplica({ plane, component, user, token, relay, flags }: ReplicaOptions): Promise<Replica> {
  const { proxy, kubeconfig } = await proxyTo({ ...plane, kubeconfig: plane.kubeconfigFor(user, token) });
  const ends: End[] = [];
  let daemon: Daemon;
  let identity: string | undefined;
  let killed = false;
  let closed = false;
  let pauseMs = restartMs;

  const live = async (): Promise<void> => {
    daemon = await startComponent({ ...plane, kubeconfig }, component, flags, { as: "chaos" });
    identity = undefined;
    killed = false;
    const { ended, lastWords } = daemon;
    void ended.then(async () => {
      if (closed) return;
      ends.push(killed ? { how: "killed" } : endOf(lastWords()));
      await sleep(pauseMs, undefined, { ref: false });
      pauseMs = restartMs;
      if (!closed) await live();
    });
  };
  await live();

  const signal = (name: NodeJS.Signals): void => {
    if (daemon.running()) process.kill(daemon.pid, name);
  };
  return {
    component,
    user,
    proxy,
    relay,
    ends,
    identity: () => {
      if (!daemon.running()) return undefined;
      identity ??= identityIn(daemon.log);
      return identity;
    },
    running: () => daemon.running(),
    kill: async (restartAfterMs) => {
      killed = daemon.running();
      pauseMs = restartAfterMs;
      await daemon.stop("SIGKILL");
    },
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    close: async () => {
      closed = true;
      await daemon.stop();
      await proxy.close();
      await relay?.close();
    },
  };
}

const endOf = (lastWords: string): End =>
  /lost the lease/.test(lastWords) ? { how: "lost the lease" } : { how: "by itself", lastOutput: lastWords };

const headBytes = 2 ** 16;

/** Each life has a log of its own, and says early who it is. */
function identityIn(log: string): string | undefined {
  const file = openSync(log, "r");
  try {
    const head = Buffer.alloc(headBytes);
    const length = readSync(file, head, 0, headBytes, 0);
    return /\bidentity="?([^\s"]+)/.exec(head.toString("utf8", 0, length))?.[1];
  } finally {
    closeSync(file);
  }
}
