/** The fault proxy in front of an API server, and a kubeconfig that leads through it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFaultProxy, type FaultProxy } from "../../fault-proxy.ts";
import { createAuthority } from "./certificates.ts";
import type { ControlPlane } from "./control-plane.ts";

export interface Proxied {
  readonly proxy: FaultProxy;
  readonly kubeconfig: string;
}

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } },
  ];
}

/**
 * Whoever the kubeconfig is for goes through the proxy. The certificate it shows is signed by an authority of its own, because not
 * every server lets us have its key.
 */
export async function proxyTo({
  instance,
  kubeconfig: via,
}: Pick<ControlPlane, "instance" | "kubeconfig">): Promise<Proxied> {
  const config = JSON.parse(readFileSync(via, "utf8")) as Kubeconfig;
  const [{ cluster, ...named }] = config.clusters;
  const ours = createAuthority("fault-proxy-authority");
  const { key, certificate } = ours.issue({ commonName: "fault-proxy", ipv4: ["127.0.0.1"] });
  const authority = Buffer.from(cluster["certificate-authority-data"], "base64").toString();
  const proxy = await createFaultProxy({
    port: Number(new URL(cluster.server).port),
    tls: { key, certificate, authority },
  });
  const through = {
    ...cluster,
    server: `https://127.0.0.1:${proxy.port}`,
    "certificate-authority-data": Buffer.from(ours.certificate).toString("base64"),
  };
  const kubeconfig = join(instance.folder, `proxied-${proxy.port}.kubeconfig`);
  writeFileSync(kubeconfig, JSON.stringify({ ...config, clusters: [{ ...named, cluster: through }] }), { mode: 0o600 });
  return { proxy, kubeconfig };
}
