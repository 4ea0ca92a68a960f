/** The fault proxy in front of a control plane, and a kubeconfig that leads through it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFaultProxy, type FaultProxy } from "../../fault-proxy.ts";
import type { ControlPlane } from "./control-plane.ts";

export interface ProxiedPlane {
  readonly proxy: FaultProxy;
  readonly kubeconfig: string;
}

/** `via`: whose kubeconfig is to lead through it, the administrator's unless said otherwise. */
export async function proxyTo(plane: ControlPlane, via = plane.kubeconfig): Promise<ProxiedPlane> {
  const { key, certificate } = plane.authority.issue({ commonName: "fault-proxy", ipv4: ["127.0.0.1"] });
  const authority = plane.authority.certificate;
  const port = Number(new URL(plane.url).port);
  const proxy = await createFaultProxy({ port, tls: { key, certificate, authority } });
  const text = readFileSync(via, "utf8").replaceAll(plane.url, `https://127.0.0.1:${proxy.port}`);
  const kubeconfig = join(plane.folder, `proxied-${proxy.port}.kubeconfig`);
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  return { proxy, kubeconfig };
}
