/** `snapkeep certs`: certificates for the webhook, as files or in the cluster, renewed when it is time. */
import { printableLine } from "../../base/printable.ts";
import { type CommandInput, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { bool, duration, list, text } from "../../runtime/flag-kinds.ts";
import { readFiles, writeFiles } from "../certs/files.ts";
import { certificateDefaults, renewInCluster, upToDate } from "../certs/renew.ts";
import { connected } from "../connected.ts";

const target = { group: "Output" } as const;

const flags = {
  ...kubeFlags,
  out: text({ ...target, default: "", example: "certs", help: "Folder for ca.crt, ca.key, tls.crt and tls.key." }),
  apply: bool({
    ...target,
    default: false,
    help: "Write the certificates to the cluster: to the Secret, and the authority as caBundle to the webhook configurations that ask the Service.",
  }),
  secret: text({ ...target, default: certificateDefaults.secret, help: "Name of the Secret." }),
  namespace: text({
    ...target,
    short: "n",
    default: "snapkeep",
    help: "Namespace of the Secret and of the Service; that of snapkeep install.",
  }),
  service: text({
    default: certificateDefaults.service,
    help: "Name of the webhook's Service; the certificate is issued for its DNS names.",
  }),
  dns: list({ default: [], help: "Additional DNS names of the certificate." }),
  validity: duration({
    default: certificateDefaults.validity,
    min: 3_600_000,
    help: "Validity of the serving certificate.",
  }),
  authorityValidity: duration({
    default: certificateDefaults.authorityValidity,
    min: 3_600_000,
    help: "Validity of the certificate authority.",
  }),
  renewBefore: duration({
    default: certificateDefaults.renewBefore,
    min: 0,
    help: "Renew certificates that expire within this time; keep the others.",
  }),
  settleTime: duration({
    default: certificateDefaults.settleTime,
    min: 0,
    help: "With --apply: how long API servers may take to read a changed caBundle. So long after it, a certificate of a new authority is served.",
  }),
  force: bool({ default: false, help: "Always create a new authority and a new certificate." }),
} as const;

type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  flags,
  examples: [
    {
      does: "Write the certificates to files",
      line: "snapkeep certs --out=certs --service=webhook --namespace=storage",
    },
    {
      does: "Write the certificates to the cluster; run the command daily to renew them in time",
      line: "snapkeep certs --apply",
    },
  ],
  check: ({ out, apply, renewBefore, validity, authorityValidity }) => {
    if ((out !== "") === apply)
      return "give either --out=FOLDER, for files, or --apply, for the cluster; for example --out=certs";
    if (apply && renewBefore >= Math.min(validity, authorityValidity))
      return "--renew-before is not shorter than --validity and --authority-validity: each certificate would be due when it is made; for example --renew-before=720h";
    return undefined;
  },
  run: (input) => (input.options.apply ? toCluster(input) : toFiles(input)),
});

async function toFiles(input: Input): Promise<number> {
  const { options, world, out } = input;
  const { set, said, isNew } = await upToDate(options, world.now(), await readFiles(options.out));
  out.write(printableLine(said));
  if (isNew) for (const file of await writeFiles(options.out, set)) out.write(printableLine(`wrote ${file}`));
  return 0;
}

const toCluster = (input: Input): Promise<number> =>
  connected("certs", input, {}, async (api) => {
    const { options, world, signal, out } = input;
    await renewInCluster(api, options, world, signal, (line) => out.write(printableLine(line)));
    return 0;
  });
