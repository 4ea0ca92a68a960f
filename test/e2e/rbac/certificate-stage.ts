/** What an installation leaves to the webhook before there is a certificate: an empty Secret, and configurations that nobody can ask. */
import {
  claimConfiguration,
  claimConfigurationName,
  shareConfiguration,
  shareConfigurationName,
  snapshotConfiguration,
  snapshotConfigurationName,
} from "../../../src/api/manifests/webhook-configurations.ts";
import type { ControlPlane } from "../harness/control-plane.ts";
import { installation } from "./rights.ts";

const { namespace: home } = installation;
const admission = "/apis/admissionregistration.k8s.io/v1";
const configurations = `${admission}/validatingwebhookconfigurations`;

export type Must = (method: string, path: string, body?: object, expected?: number[]) => Promise<string>;

export function certificateStage(plane: ControlPlane, must: Must) {
  const secretPath = `/api/v1/namespaces/${home}/secrets`;
  const certificate = { secret: "snapshot-validation-secret", service: "snapshot-validation-service" };
  const client = { service: { namespace: home, name: certificate.service } };
  const asked = [
    [`${configurations}/${snapshotConfigurationName}`, snapshotConfiguration({ client })],
    [`${configurations}/${shareConfigurationName}`, shareConfiguration({ client })],
    [`${admission}/mutatingwebhookconfigurations/${claimConfigurationName}`, claimConfiguration({ client })],
  ] as const;
  /** As an installation leaves it, before there is any certificate. */
  const install = async (): Promise<void> => {
    const data = { "tls.crt": "", "tls.key": "" };
    await must("POST", secretPath, { metadata: { name: certificate.secret }, type: "kubernetes.io/tls", data });
    for (const [path, draft] of asked) {
      const webhooks = (draft.webhooks as object[]).map((one) => ({ ...one, failurePolicy: "Ignore" }));
      await must("POST", path.slice(0, path.lastIndexOf("/")), { ...draft, webhooks });
    }
  };
  const uninstall = async (): Promise<void> => {
    await plane.request("DELETE", `${secretPath}/${certificate.secret}`);
    for (const [path] of asked) await plane.request("DELETE", path);
    await plane.request(
      "DELETE",
      `/apis/coordination.k8s.io/v1/namespaces/${home}/leases/snapshot-webhook-certificates`,
    );
  };
  const isRenewed = async (): Promise<true | undefined> => {
    const { data } = JSON.parse(await must("GET", `${secretPath}/${certificate.secret}`)) as {
      data: Readonly<Record<string, string>>;
    };
    for (const [path] of asked) {
      const { webhooks } = JSON.parse(await must("GET", path)) as {
        webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
      };
      if (webhooks.some(({ clientConfig }) => clientConfig.caBundle !== data["ca.crt"])) return undefined;
    }
    return data["tls.crt"] === "" ? undefined : true;
  };
  return { secret: certificate.secret, install, uninstall, isRenewed };
}
