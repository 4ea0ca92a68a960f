/** The life of the driver of shares on a node: it mounts, updates, empties and fills volumes. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FaultProxy } from "../../fault-proxy.ts";
import { csiClientTo } from "../harness/components.ts";
import type { ControlPlane } from "../harness/control-plane.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import { letUse, publishRequest, revokeUse, shareDriverProcess, startShareDriver } from "../harness/share-driver.ts";
import type { Must } from "./certificate-stage.ts";
import { type CreateShare, home, kinds, team } from "./share-stage.ts";
import type { Life, Step, Trial } from "./trial.ts";

/** Begin of the names of namespaces that a step deletes. */
const leaving = "leaving-";

export function driverLife(
  plane: ControlPlane,
  must: Must,
  createShare: CreateShare,
  removeShares: () => Promise<void>,
): Life {
  const component = "shared-resource";
  const published: { readonly volumeId: string; readonly targetPath: string }[] = [];
  const socket = join(plane.instance.folder, "share-driver", "csi.sock");
  const targetOf = (volumeId: string): string => join(plane.instance.folder, "pods", volumeId, "mount");
  /** The token is there, or it is not. */
  const shows = (trial: Trial, volumeId: string, isThere: boolean): Promise<true> =>
    trial.until(`the volume ${isThere ? "has" : "has lost"} its file`, async () =>
      existsSync(join(targetOf(volumeId), "token")) === isThere ? true : undefined,
    );
  const holds = (trial: Trial, kind: keyof typeof kinds, isThere: boolean): Promise<true> =>
    shows(trial, `${trial.id}-${kind}`, isThere);
  const mounts = (kind: keyof typeof kinds): Step => ({
    check: `a pod mounts a ${kind} that its account may use`,
    prove: async (trial) => {
      await createShare(component, kind, trial.id);
      await mount(trial, kind, { id: `${trial.id}-${kind}`, share: trial.id });
    },
  });
  const mount = async (
    trial: Trial,
    kind: keyof typeof kinds,
    { id, share }: { readonly id: string; readonly share: string },
  ): Promise<void> => {
    await letUse(plane, { kind, share, namespace: team });
    const target = targetOf(id);
    mkdirSync(join(target, ".."), { recursive: true });
    const request = publishRequest({ id, target, namespace: team, share, kind });
    const { node, close } = csiClientTo(socket);
    try {
      await trial.until("the volume is published", () =>
        node.nodePublishVolume(request).then(
          () => true as const,
          () => undefined,
        ),
      );
      published.push({ volumeId: id, targetPath: target });
      await shows(trial, id, true);
    } finally {
      close();
    }
  };
  /** No watch tells of the Secret's end. */
  const left: Step = {
    check: "a volume is emptied when its Secret goes with its namespace, and the right to read it goes first",
    prove: async (trial) => {
      const share = `${leaving}${trial.id}`;
      await must("POST", "/api/v1/namespaces", { metadata: { name: share } });
      await createShare(component, "SharedSecret", share, share);
      await mount(trial, "SharedSecret", { id: share, share });
      const bindings = `/apis/rbac.authorization.k8s.io/v1/namespaces/${share}/rolebindings`;
      await must("DELETE", `${bindings}/${component}-secrets-${share}`);
      proxy?.disconnect((request) => request.includes(`/namespaces/${share}/secrets?`));
      await must("DELETE", `/api/v1/namespaces/${share}`);
      await shows(trial, share, false);
    },
  };
  const emptied = (kind: keyof typeof kinds): Step => ({
    check: `a volume is emptied when what its ${kind} refers to is deleted, and filled when that is back`,
    prove: async (trial) => {
      const path = `/api/v1/namespaces/${team}/${kinds[kind][1]}`;
      await must("DELETE", `${path}/${trial.id}`);
      await holds(trial, kind, false);
      await must("POST", path, { metadata: { name: trial.id }, data: { token: "YQ==" } });
      await holds(trial, kind, true);
    },
  });
  const revoked: Step = {
    check: "a volume is emptied when the permission is taken away, and filled when it is back",
    prove: async (trial) => {
      const use = { kind: "SharedSecret" as const, share: trial.id, namespace: team };
      await revokeUse(plane, use);
      await holds(trial, "SharedSecret", false);
      await letUse(plane, use);
      await holds(trial, "SharedSecret", true);
    },
  };
  const grown: Step = {
    check: "a ConfigMap that grows beyond the memory of a volume twice gets one event of the pod, which is counted",
    prove: async (trial) => {
      const path = `/api/v1/namespaces/${team}/configmaps/${trial.id}`;
      const keys = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key-${at}`, ""]));
      const reported = (times: number) =>
        trial.until(`the event was recorded ${times} times`, async () => {
          // Each scrape looks at the volumes, as Prometheus makes the driver do.
          await fetch(`${statusUrl}/metrics`).catch(() => undefined);
          const events = `/api/v1/namespaces/${team}/events?fieldSelector=reason=SharedVolumeNotCurrent,involvedObject.uid=uid-${trial.id}-SharedConfigMap`;
          const { items } = JSON.parse(await must("GET", events)) as { items: readonly { count?: number }[] };
          return items.some(({ count = 1 }) => count >= times) ? true : undefined;
        });
      for (const times of [1, 2]) {
        await must("PUT", path, { metadata: { name: trial.id }, data: { token: "YQ==", ...keys } });
        await reported(times);
        await must("PUT", path, { metadata: { name: trial.id }, data: { token: `${times}` } });
        await trial.until("the volume is current", async () => {
          const text = await (await fetch(`${statusUrl}/metrics`)).text();
          return /^openshift_csi_share_volumes_not_current\{cause="memory"\} 0$/m.test(text) ? true : undefined;
        });
      }
    },
  };
  let statusUrl = "";
  let proxy: FaultProxy | undefined;
  return {
    component,
    isTakenBack: ({ objectRef }) =>
      objectRef?.resource === "secrets" && objectRef.namespace?.startsWith(leaving) === true,
    start: async (viaPlane) => {
      const proxied = await proxyTo({ ...plane, kubeconfig: viaPlane });
      const { kubeconfig } = proxied;
      proxy = proxied.proxy;
      const flags = [`--allow-list-namespace=${home}`, "--volume-memory=256Ki"];
      const driver = await shareDriverProcess(plane.instance, { kubeconfig, flags });
      statusUrl = driver.statusUrl;
      return driver.start();
    },
    steps: [
      mounts("SharedSecret"),
      mounts("SharedConfigMap"),
      emptied("SharedSecret"),
      emptied("SharedConfigMap"),
      revoked,
      grown,
      left,
    ],
    clean: async () => {
      await proxy?.close();
      await removeShares();
      if (published.length === 0) return;
      const { daemon } = await startShareDriver(plane.instance, { kubeconfig: plane.kubeconfig });
      const { node, close } = csiClientTo(socket);
      for (const volume of published.splice(0)) await node.nodeUnpublishVolume(volume);
      close();
      await daemon().stop();
    },
  };
}
