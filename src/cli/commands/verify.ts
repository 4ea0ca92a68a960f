/** `snapkeep verify`: whether snapshots work in this cluster, from a claim to the bytes in a restored volume. */
import { parseQuantity } from "../../base/quantity.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { bool, duration, oneOf, text } from "../../runtime/flag-kinds.ts";
import { connected } from "../connected.ts";
import { createProgress } from "../progress.ts";
import { endLine, exitCodeOf, verificationJson } from "../verify/report.ts";
import { verify } from "../verify/verify.ts";

const flags = {
  ...kubeFlags,
  storageClass: text({
    default: "",
    example: "fast",
    help: "StorageClass of the claims. Empty: the default one, or one of the driver of --class.",
  }),
  class: text({
    default: "",
    example: "fast-snapshots",
    help: "VolumeSnapshotClass of the snapshot. Empty: the driver's default one, or its only one.",
  }),
  size: text({ default: "1Gi", required: true, help: "Size of the volumes." }),
  noPods: bool({
    default: false,
    help: "Create no pods: only volumes and the snapshot are made, and whether the bytes come back is not seen.",
  }),
  image: text({
    default: "registry.k8s.io/e2e-test-images/busybox:1.37.0-1",
    required: true,
    help: "Image of the pods: any one with a shell, echo, cat and sync.",
  }),
  asRoot: bool({
    default: false,
    help: "Run the pods as root, for drivers whose volumes nobody else may write to. Otherwise they keep to the restricted Pod Security Standard.",
  }),
  timeout: duration({
    default: 300_000,
    min: 1_000,
    help: "How long to wait for each step. The removal has at least 30 s.",
  }),
  keep: bool({ default: false, help: "Leave everything in the cluster, to look at it." }),
  output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format." }),
} as const;

/** Also for whoever wants to wait for each step a few seconds only. */
const removalMsMin = 30_000;

export const command = defineCommand({
  flags,
  examples: [
    { does: "Verify the default classes", line: "snapkeep verify" },
    {
      does: "Verify a driver, with an image of your registry",
      line: "snapkeep verify --storage-class=fast --image=registry.example.com/busybox",
    },
    { does: "Verify without pods, in a few seconds", line: "snapkeep verify --no-pods" },
    { does: "Verify in CI, and keep what has failed", line: "snapkeep verify --keep -o json" },
  ],
  check: ({ size }) => complaintOf(() => parseQuantity(size)),
  run: (input) =>
    connected("snapkeep-verify", input, {}, async (api) => {
      const { options, world, signal, out, error } = input;
      const isText = options.output === "text";
      const found = await verify(
        {
          storageClass: options.storageClass,
          snapshotClass: options.class,
          size: options.size,
          pods: options.noPods ? undefined : { image: options.image, asRoot: options.asRoot },
          keeps: options.keep,
          stepMsMax: options.timeout,
          removalMsMax: Math.max(options.timeout, removalMsMin),
        },
        { api, world, signal, say: (text) => void (isText && out.write(text)), progress: createProgress(world, error) },
      );
      out.write(isText ? endLine(found) : `${JSON.stringify(verificationJson(found), undefined, 2)}\n`);
      return exitCodeOf[found.result];
    }),
});
