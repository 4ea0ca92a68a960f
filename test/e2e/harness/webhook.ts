/** The webhook as a real process that a control plane calls over TLS. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  claimConfiguration,
  claimConfigurationName,
  shareConfiguration,
  shareConfigurationName,
  snapshotConfiguration,
  snapshotConfigurationName,
} from "../../../src/api/manifests/webhook-configurations.ts";
import { type Authority, createAuthority } from "./certificates.ts";
import type { OtherUser } from "./component-users.ts";
import { type StartedComponent, startComponent } from "./components.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePort } from "./ports.ts";
import { until } from "./until.ts";

const configurations = "/apis/admissionregistration.k8s.io/v1";
const paths = {
  snapshots: `${configurations}/validatingwebhookconfigurations`,
  shares: `${configurations}/validatingwebhookconfigurations`,
  claims: `${configurations}/mutatingwebhookconfigurations`,
} as const;
const names = {
  snapshots: snapshotConfigurationName,
  shares: shareConfigurationName,
  claims: claimConfigurationName,
} as const;
const drafts = { snapshots: snapshotConfiguration, shares: shareConfiguration, claims: claimConfiguration } as const;
export type ConfigurationName = keyof typeof names;

interface Configuration {
  readonly webhooks: readonly { readonly clientConfig: { readonly service?: { readonly path?: string } } }[];
}

export interface TestWebhook {
  readonly url: string;
  readonly authority: Authority;
  readonly certFile: string;
  readonly keyFile: string;
  readonly metricsUrl: string;
  daemon(): StartedComponent;
  start(...flags: readonly string[]): Promise<void>;
  stop(): Promise<void>;
  /** Creates a configuration, or replaces its failure policy; the API server needs a moment to notice. */
  configure(name: ConfigurationName, failurePolicy: "Ignore" | "Fail", at?: string): Promise<void>;
  /** A configuration as it was rendered, except that the API server finds this webhook instead of a Service. */
  configureAs(name: ConfigurationName, rendered: Configuration): Promise<void>;
  unconfigure(name: ConfigurationName): Promise<void>;
  renew(days?: number): void;
}

export interface ReplicaPlace {
  readonly certFile: string;
  readonly keyFile: string;
  readonly port: number;
  readonly metricsPort: number;
}

/** Ready when this returns. */
export async function startReplica(
  plane: ControlPlane,
  { certFile, keyFile, port, metricsPort }: ReplicaPlace,
  flags: readonly string[] = [],
  as?: OtherUser,
): Promise<StartedComponent> {
  const words = [
    `--tls-cert-file=${certFile}`,
    `--tls-private-key-file=${keyFile}`,
    `--port=${port}`,
    `--http-endpoint=127.0.0.1:${metricsPort}`,
    `--shutdown-delay-duration=0s`,
    ...flags,
  ];
  const daemon = await startComponent(plane, "webhook", words, { as });
  await until({ what: "the webhook is ready" }, async () => ((await isReady(metricsPort)) ? true : undefined));
  return daemon;
}

export const isReady = async (metricsPort: number): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${metricsPort}/readyz`).catch(() => undefined))?.ok === true;

/** The kubeconfig of the plane is for `as`; absent: the webhook acts as its shipped service account. */
export async function createTestWebhook(plane: ControlPlane, as?: OtherUser): Promise<TestWebhook> {
  const authority = createAuthority("webhook test authority");
  const { folder } = plane.instance;
  const [certFile, keyFile] = [join(folder, "webhook.crt"), join(folder, "webhook.key")];
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `https://127.0.0.1:${port}`;
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  let running: StartedComponent | undefined;

  const renew = (days?: number): void => {
    const issued = authority.issue({
      commonName: "webhook",
      ipv4: ["127.0.0.1"],
      ...(days === undefined ? {} : { days }),
    });
    writeFileSync(certFile, issued.certificate);
    writeFileSync(keyFile, issued.key);
  };
  const draftOf = (name: ConfigurationName, at: string) =>
    drafts[name]({ client: { url: at }, authority: authority.certificate });
  const remove = (name: ConfigurationName) => plane.request("DELETE", `${paths[name]}/${names[name]}`);

  const create = async (name: ConfigurationName, configuration: object): Promise<void> => {
    await remove(name);
    const { status, text } = await plane.request("POST", paths[name], configuration);
    if (status !== 201) throw new Error(text);
  };

  renew();
  return {
    url,
    authority,
    certFile,
    keyFile,
    metricsUrl,
    renew,
    daemon: () => running as StartedComponent,
    async start(...flags) {
      running = await startReplica(plane, { certFile, keyFile, port, metricsPort }, flags, as);
    },
    async stop() {
      await running?.stop();
    },
    async configure(name, failurePolicy, at = url) {
      const draft = draftOf(name, at);
      const webhooks = (draft.webhooks as object[]).map((webhook) => ({ ...webhook, failurePolicy }));
      await create(name, { ...draft, webhooks });
    },
    async configureAs(name, rendered) {
      const caBundle = Buffer.from(authority.certificate).toString("base64");
      const webhooks = rendered.webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: { url: `${url}${webhook.clientConfig.service?.path ?? ""}`, caBundle },
      }));
      await create(name, { ...rendered, webhooks });
    },
    unconfigure: async (name) => void (await remove(name)),
  };
}
