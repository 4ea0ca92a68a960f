/** `snapkeep webhook`: flags of the validation webhook it replaces, and the component behind them. */

import { hostname } from "node:os";
import type { KindName } from "../../api/kinds.ts";
import { certificateLease } from "../../api/manifests/webhook.ts";
import { printableLine } from "../../base/printable.ts";
import { uuid } from "../../base/world.ts";
import { createApiFacts } from "../../components/webhook/api-facts.ts";
import { keepCertificates } from "../../components/webhook/certificates/upkeep.ts";
import { webhookMetrics } from "../../components/webhook/metrics.ts";
import { start } from "../../components/webhook/start.ts";
import { namespaceIn, serviceAccountFolder } from "../../kube/config-pod.ts";
import { type CommandInput, defineCommand } from "../../runtime/command.ts";
import { checkEndpoint, kubeFlags, loggingFlags, servingFlags } from "../../runtime/common-flags.ts";
import { connect } from "../../runtime/connect.ts";
import { bool, duration, featureGates, integer, oneOf, text } from "../../runtime/flag-kinds.ts";
import { type ProcessContext, runStandalone } from "../../runtime/frame.ts";
import { createLog } from "../../runtime/log.ts";
import { requestMeasure } from "../../runtime/measure.ts";
import { createAllowListReader, driverNamespace } from "../../runtime/share-allow-lists.ts";
import { certificateDefaults } from "../certs/renew.ts";
import { setFailurePolicy } from "../webhook/promote.ts";

const name = "webhook";
const group = { group: "Admission" } as const;
const accepted = { ...group, hidden: true, help: "Accepted for compatibility; has no effect." } as const;

const flags = {
  ...kubeFlags,
  ...loggingFlags,
  ...servingFlags,
  tlsCertFile: text({
    ...group,
    default: "",
    example: "/etc/webhook/certs/tls.crt",
    deprecated: { tlscert: "use --tls-cert-file" },
    help: "Serving certificate in PEM, with its chain. Reloaded when the file changes. Required.",
  }),
  tlsPrivateKeyFile: text({
    ...group,
    default: "",
    example: "/etc/webhook/certs/tls.key",
    deprecated: { tlskey: "use --tls-private-key-file" },
    help: "Private key of the serving certificate in PEM. Reloaded when the file changes. Required.",
  }),
  port: integer({ ...group, default: 443, min: 0, max: 65_535, help: "Port to serve on." }),
  listen: text({ ...group, default: "0.0.0.0", help: "Address to serve on. 0.0.0.0: all addresses." }),
  clientCaFile: text({
    ...group,
    default: "",
    example: "/etc/webhook/client-ca.crt",
    help: "Certificate authority in PEM. If set, the webhook serves only clients with a certificate of this authority. Reloaded when the file changes.",
  }),
  crossNamespaceGate: oneOf(["auto", "on", "off"], {
    ...group,
    default: "auto",
    help: "Whether the API server keeps spec.dataSourceRef.namespace of claims. auto detects it with a dry run at start and every 10 minutes.",
  }),
  featureGates: featureGates(
    { AnyVolumeDataSource: true },
    { ...group, help: "AnyVolumeDataSource: whether claims may name custom kinds as their data source." },
  ),
  allowListNamespace: text({
    ...group,
    default: "",
    example: driverNamespace,
    help: `Namespace of the ConfigMaps ocp-sharedsecret-list and ocp-sharedconfigmap-list, which list the shares that may have a reserved name. Read once at the start. Empty: the namespace of the pod's service account, else ${driverNamespace}.`,
  }),
  shutdownDelayDuration: duration({
    ...group,
    default: 5_000,
    min: 0,
    help: "How long to keep serving after SIGTERM while /readyz fails, so that clients switch to another replica.",
  }),
  certificateSecret: text({
    ...group,
    default: "",
    example: certificateDefaults.secret,
    help: "Name of the Secret in the pod's namespace that the certificate comes from. If set, one of the replicas renews the certificate 30 days before it expires, and keeps its authority in the caBundle of webhook configurations that ask the Service. A Secret of cert-manager is left to it. Empty: somebody else renews.",
  }),
  certificateService: text({
    ...group,
    default: certificateDefaults.service,
    help: "With --certificate-secret: the Service that the certificate is for.",
  }),
  demote: bool({ ...group, default: false, help: "With promote: set failurePolicy back to Ignore." }),
  tls: bool({ ...accepted, default: true }),
  cacert: text({ ...accepted, default: "" }),
  preventVolumeModeConversion: bool({ ...accepted, default: true }),
  enableVolumeGroupSnapshotWebhook: bool({ ...accepted, default: false }),
} as const;

const isPromotion = ([first]: readonly string[]): boolean => first === "promote";

export const command = defineCommand({
  takes: "[promote]",
  flags,
  metrics: webhookMetrics,
  examples: [
    {
      does: "Serve in a pod, with a certificate from a mounted Secret",
      line: "snapkeep webhook --tls-cert-file=/etc/webhook/certs/tls.crt --tls-private-key-file=/etc/webhook/certs/tls.key",
    },
    {
      does: "Also renew that certificate, as one of several replicas",
      line: "snapkeep webhook --tls-cert-file=/etc/webhook/certs/tls.crt --tls-private-key-file=/etc/webhook/certs/tls.key --certificate-secret=snapshot-validation-secret",
    },
    {
      does: "Serve on another port, with metrics",
      line: "snapkeep webhook --tls-cert-file=tls.crt --tls-private-key-file=tls.key --port=8443 --http-endpoint=:8080",
    },
    {
      does: "Serve with the flags of the shared-resource webhook",
      line: "snapkeep webhook --tls=true --tlscert=/etc/secrets/tls.crt --tlskey=/etc/secrets/tls.key --port=8443",
    },
    {
      does: "Set failurePolicy to Fail, after dry runs show that the webhook answers",
      line: "snapkeep webhook promote",
    },
  ],
  check: (options, positionals) => {
    if (isPromotion(positionals)) return undefined;
    if (positionals.length > 0) return `unexpected argument ${JSON.stringify(positionals[0])}; there is "promote"`;
    if (options.demote) return '--demote goes with promote: write "snapkeep webhook promote --demote"';
    if (!options.tls) return "--tls=false is not served: the API server calls webhooks over TLS only; leave --tls out";
    const missing = (["tlsCertFile", "tlsPrivateKeyFile"] as const).find((flag) => options[flag] === "");
    if (missing !== undefined)
      return `--${missing === "tlsCertFile" ? "tls-cert-file" : "tls-private-key-file"} is required: the API server calls webhooks over TLS only; make a pair with "snapkeep certs"`;
    return checkEndpoint(options);
  },
  run: (input) =>
    isPromotion(input.positionals)
      ? promote(input)
      : runStandalone(input, name, (context) => startWebhook(context, input)),
});

async function promote({ options, environment, version, world, signal, out, error }: CommandInput<typeof flags>) {
  const log = createLog({ format: "text", verbosity: 0, name, world, out: error });
  const { api, close } = await connect({
    flags: options,
    kinds: ["VolumeSnapshot"],
    waitMsMax: 0,
    userAgent: `${name}/snapkeep-${version}`,
    environment,
    world,
    log,
    signal,
  });
  try {
    const policy = options.demote ? "Ignore" : "Fail";
    out.write(printableLine(await setFailurePolicy(api, policy, { namespace: "default", signal })));
    return 0;
  } finally {
    close();
  }
}

async function startWebhook(context: ProcessContext, { options, environment, version }: CommandInput<typeof flags>) {
  const { world, log, metrics } = context;
  const connected = (kinds: readonly KindName[]) => (signal: AbortSignal) =>
    connect({
      flags: options,
      kinds,
      waitMsMax: Number.POSITIVE_INFINITY,
      userAgent: `${name}/snapkeep-${version}`,
      environment,
      world,
      log,
      signal,
      measure: requestMeasure(metrics),
    });
  const ownNamespace = await namespaceIn(serviceAccountFolder);
  const facts = {
    ...createApiFacts({
      world,
      log,
      probeNamespace: options.crossNamespaceGate === "auto" ? ownNamespace : undefined,
      connect: connected(["VolumeSnapshotClass"]),
    }),
    allowLists: createAllowListReader({
      world,
      log,
      environment,
      namespace: options.allowListNamespace || (ownNamespace ?? driverNamespace),
      // Two ConfigMaps are read by their names; the role does not allow to list others.
      connect: connected([]),
    }),
  };
  const address = { host: options.listen === "0.0.0.0" ? undefined : options.listen, port: options.port };
  const renewal = {
    ...certificateDefaults,
    settleTime: renewalSettleMs,
    namespace: ownNamespace,
    secret: options.certificateSecret,
    service: options.certificateService,
    lease: certificateLease,
    identity: `${hostname()}_${uuid(world)}`,
  };
  const keepsCertificates = async (signal: AbortSignal): Promise<void> => {
    if (renewal.secret !== "") await keepCertificates({ world, log, connect: connected([]) }, renewal, signal);
  };
  const reviews = { ...options, address, anyVolumeDataSource: options.featureGates.AnyVolumeDataSource };
  return start(context, reviews, facts, keepsCertificates);
}

/** Longer than for `snapkeep certs`, where somebody waits. */
const renewalSettleMs = 60_000;
