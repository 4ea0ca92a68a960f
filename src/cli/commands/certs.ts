/** `snapkeep certs`: certificates for the webhook, as files or in the cluster, renewed when it is time. */
import { type CommandInput, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { connect } from "../../runtime/connect.ts";
import { bool, duration, list, text } from "../../runtime/flag-kinds.ts";
import { createLog } from "../../runtime/log.ts";
import { readSecret, trustAuthority, writeSecret } from "../certs/cluster.ts";
import { readFiles, writeFiles } from "../certs/files.ts";
import { type CertificateSet, issueServing, type KeyPair, newAuthority, shortcomingOf } from "../certs/issue.ts";

const dayMs = 86_400_000;
const target = { group: "Output" } as const;

const flags = {
  ...kubeFlags,
  out: text({ ...target, default: "", example: "certs", help: "Folder for ca.crt, ca.key, tls.crt and tls.key." }),
  apply: bool({
    ...target,
    default: false,
    help: "Write the certificates to the cluster: to the Secret, and the authority as caBundle to the webhook configurations.",
  }),
  secret: text({ ...target, default: "snapshot-validation-secret", help: "Name of the Secret." }),
  namespace: text({ ...target, short: "n", default: "default", help: "Namespace of the Secret and of the Service." }),
  service: text({
    default: "snapshot-validation-service",
    help: "Name of the webhook's Service; the certificate is issued for its DNS names.",
  }),
  dns: list({ default: [], help: "Additional DNS names of the certificate." }),
  validity: duration({ default: 365 * dayMs, min: 3_600_000, help: "Validity of the serving certificate." }),
  authorityValidity: duration({
    default: 3_650 * dayMs,
    min: 3_600_000,
    help: "Validity of the certificate authority.",
  }),
  renewBefore: duration({
    default: 30 * dayMs,
    min: 0,
    help: "Renew certificates that expire within this time; keep the others.",
  }),
  force: bool({ default: false, help: "Always create a new authority and a new certificate." }),
} as const;

type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  flags,
  examples: [
    {
      does: "Write the certificates to files",
      line: "snapkeep certs --out=certs --service=webhook --namespace=snapkeep",
    },
    {
      does: "Write the certificates to the cluster; run the command daily to renew them in time",
      line: "snapkeep certs --apply --namespace=snapkeep",
    },
  ],
  check: ({ out, apply }) =>
    (out !== "") === apply
      ? "give either --out=FOLDER, for files, or --apply, for the cluster; for example --out=certs"
      : undefined,
  run: (input) => (input.options.apply ? toCluster(input) : toFiles(input)),
});

async function toFiles(input: Input): Promise<number> {
  const { options, out } = input;
  const { set, said, isNew } = await upToDate(input, await readFiles(options.out));
  out.write(`${said}\n`);
  if (isNew) for (const file of await writeFiles(options.out, set)) out.write(`wrote ${file}\n`);
  return 0;
}

async function toCluster(input: Input): Promise<number> {
  const { options, environment, version, world, signal, out, error } = input;
  const log = createLog({ format: "text", verbosity: 0, name: "certs", world, out: error });
  const userAgent = `certs/snapkeep-${version}`;
  const { api, close } = await connect({
    flags: options,
    kinds: [],
    waitMsMax: 0,
    userAgent,
    environment,
    world,
    log,
    signal,
  });
  try {
    const ref = { namespace: options.namespace, name: options.secret };
    const { set, said, isNew } = await upToDate(input, await readSecret(api, ref, signal));
    out.write(`${said}\n`);
    // Trusted before it is served: a pod may mount the new certificate at any time after it is written.
    for (const name of await trustAuthority(api, set, signal)) out.write(`set caBundle of ${name}\n`);
    if (isNew) {
      await writeSecret(api, ref, set, signal);
      out.write(`wrote Secret ${ref.namespace}/${ref.name}\n`);
    }
    return 0;
  } finally {
    close();
  }
}

async function upToDate({ options, world }: Input, found: Partial<CertificateSet>) {
  const { service, namespace, dns } = options;
  const dnsNames = [
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
    `${service}.${namespace}`,
    service,
    ...dns,
  ];
  const issue = {
    dnsNames,
    nowMs: world.now(),
    validMs: options.validity,
    authorityValidMs: options.authorityValidity,
  };
  const existing = options.force ? {} : found;
  const shortcoming = shortcomingOf(existing, { ...issue, renewBeforeMs: options.renewBefore });
  if (shortcoming === undefined)
    return {
      set: existing as CertificateSet,
      said: "the certificates are good for a while; nothing to do",
      isNew: false,
    };
  const isNewAuthority = shortcoming.part === "authority" || existing.authority === undefined;
  const authority = isNewAuthority ? await newAuthority(issue) : (existing.authority as KeyPair);
  const previousAuthority = isNewAuthority ? found.authority?.certificate : existing.previousAuthority;
  const set: CertificateSet = { authority, serving: await issueServing(authority, issue), previousAuthority };
  return { set, said: `a new ${shortcoming.part} certificate is made: ${shortcoming.why}`, isNew: true };
}
