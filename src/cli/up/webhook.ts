/** The webhook of `snapkeep up`: called by the API server over TLS, as in a cluster, with a certificate that ends with the process. */
import { snapshotConfiguration } from "../../api/manifests/webhook-configurations.ts";
import type { Draft, ObjectOf } from "../../api/types.ts";
import { createApiFacts } from "../../components/webhook/api-facts.ts";
import { serveReviews } from "../../components/webhook/start.ts";
import { createAuthority } from "../../runtime/certificates.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import type { Component } from "../../runtime/frame.ts";
import { createAllowListReader, driverNamespace } from "../../runtime/share-allow-lists.ts";
import { upLabels } from "../install/up-cluster.ts";

const loopback = "127.0.0.1";

export async function startWebhook(context: ComponentContext): Promise<Component> {
  const { api, world, log } = context;
  const connect = async () => ({ api });
  const facts = {
    ...createApiFacts({ world, log, probeNamespace: undefined, connect }),
    // Nothing asks this webhook about shares, so their lists are not read either.
    allowLists: createAllowListReader({ world, log, environment: {}, namespace: driverNamespace, connect }),
  };
  const authority = createAuthority("snapkeep-webhook-ca", world.now());
  const { certificate, key } = authority.issue({ commonName: "snapkeep-webhook", dnsNames: [], ipv4: [loopback] });
  const server = await serveReviews(
    context,
    // The API server of `up` judges the data sources of claims itself.
    { address: { host: loopback, port: 0 }, anyVolumeDataSource: true, crossNamespaceGate: "off" },
    facts,
    { cert: certificate, key },
  );
  const place = {
    client: { url: server.url },
    authority: authority.certificate,
  };
  try {
    await api.create("ValidatingWebhookConfiguration", strict(snapshotConfiguration(place)));
  } catch (reason) {
    await server.close();
    throw reason;
  }
  return {
    run: async (signal) => {
      await facts.watch(signal);
      await server.close();
    },
  };
}

/** Ignore is for the days of an installation: here both ends are one process. */
function strict(configuration: ReturnType<typeof snapshotConfiguration>) {
  const webhooks = (configuration.webhooks as object[]).map((webhook) => ({ ...webhook, failurePolicy: "Fail" }));
  const metadata = { ...(configuration.metadata as object), labels: upLabels };
  return { ...configuration, metadata, webhooks } as unknown as Draft<ObjectOf<"ValidatingWebhookConfiguration">>;
}
