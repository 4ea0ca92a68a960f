/** `snapkeep directory-driver`: a CSI driver over plain directories, for laptops and tests. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { Fault } from "../../base/fault.ts";
import { fsErrorText } from "../../base/fs-errors.ts";
import { type InjectedFault, parseInjectedFault } from "../../components/directory-driver/fault-injection.ts";
import { start } from "../../components/directory-driver/start.ts";
import { socketPathOf } from "../../csi/address.ts";
import { checkedDriverName } from "../../csi/driver-name.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { checkEndpoint, loggingFlags, registrationFlags, servingFlags } from "../../runtime/common-flags.ts";
import { duration, type Flag, text } from "../../runtime/flag-kinds.ts";
import { runStandalone } from "../../runtime/frame.ts";

const trying = { group: "Fault injection" } as const;
const kubelet = { group: "Kubelet" } as const;

const readFaults = (given: string): readonly (InjectedFault | string)[] =>
  given.split(",").map((word) => parseInjectedFault(word.trim()));

/** One or several, separated by commas or by repeating the flag. */
export const injectedFaults: Flag<readonly InjectedFault[]> = {
  ...trying,
  type: "method=code*times[:after]",
  default: [],
  example: "CreateSnapshot=Unavailable*2",
  help: 'Injected faults: "CreateSnapshot=Unavailable*2" fails two calls, "DeleteSnapshot=DeadlineExceeded:after" performs one call and drops its reply. Later calls succeed. May be repeated.',
  expects: "a CSI method and a code, how often, and perhaps :after",
  read: (given, before = []) => {
    const read = readFaults(given);
    return read.every((injected) => typeof injected !== "string") ? [...before, ...read] : undefined;
  },
  explain: (given) => readFaults(given).find((read) => typeof read === "string") ?? "",
  print: (value) => value.map(({ method, code, times }) => `${method}=${code}*${times}`).join(","),
};

/** From a file, because everybody on the machine can read the arguments of a process. */
async function secretIn(file: string): Promise<string> {
  if (file === "") return "";
  const text = await readFile(file, "utf8").catch((reason: unknown) => {
    throw new Fault("FailedPrecondition", `--snapshot-secret-file ${file} cannot be read: ${fsErrorText(reason)}`);
  });
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "")
    throw new Fault("FailedPrecondition", `--snapshot-secret-file ${file} is empty: write the value into it`);
  return secret;
}

export const command = defineCommand({
  flags: {
    endpoint: text({
      default: "unix:///run/csi/socket",
      help: "Unix socket to listen on. Its folder must exist. Only the owner can write to the socket, because writing to it allows mounts as root.",
    }),
    root: text({
      default: "/var/lib/snapkeep/directory-driver",
      required: true,
      deprecated: { statedir: "this is csi-driver-host-path's name for --root" },
      help: "Folder of volumes and snapshots; created if it does not exist. On XFS or btrfs, snapshots share their blocks with the volume; on other file systems they are copies.",
    }),
    driverName: text({
      default: "directory.snapkeep.dev",
      deprecated: { drivername: "this is csi-driver-host-path's name for --driver-name" },
      help: "Name of the driver in StorageClasses and VolumeSnapshotClasses.",
    }),
    nodeId: text({
      default: "",
      example: "node-1",
      environment: "NODE_NAME",
      deprecated: { nodeid: "this is csi-driver-host-path's name for --node-id" },
      help: "Name of this node. Empty: the host name.",
    }),
    ...registrationFlags(kubelet.group, "directory.snapkeep.dev"),
    snapshotDelay: duration({
      ...trying,
      default: 0,
      min: 0,
      help: "Time from taking a snapshot until it is ready to use, as on storage that uploads snapshots.",
    }),
    snapshotSecretFile: text({
      ...trying,
      default: "",
      example: "./token",
      help: 'File with a token; a final line break is ignored. If set, CreateSnapshot and DeleteSnapshot require a secret that has this token under the key "token".',
    }),
    fault: injectedFaults,
    ...servingFlags,
    ...loggingFlags,
  },
  examples: [
    {
      does: "Serve volumes and snapshots from a folder, without root; mounting them needs root",
      line: "snapkeep directory-driver --endpoint /tmp/csi.sock --root ./storage",
    },
    {
      does: "Serve pods of the kubelet on this machine",
      line: "sudo snapkeep directory-driver --endpoint /var/lib/kubelet/plugins/directory.snapkeep.dev/csi.sock --kubelet-registration-path /var/lib/kubelet/plugins/directory.snapkeep.dev/csi.sock",
    },
    {
      does: "Simulate slow storage that is unavailable for two calls",
      line: "snapkeep directory-driver --endpoint /tmp/csi.sock --root ./storage --snapshot-delay 30s --fault 'CreateSnapshot=Unavailable*2'",
    },
  ],
  check: ({ endpoint, driverName, httpEndpoint }) =>
    checkEndpoint({ httpEndpoint }) ??
    complaintOf(() => socketPathOf(endpoint)) ??
    complaintOf(() => checkedDriverName(driverName)),
  run: (input) =>
    runStandalone(input, "directory-driver", async (context) => {
      const { options, version } = input;
      const { kubeletRegistrationPath: endpoint, kubeletRegistryFolder: registryFolder } = options;
      return start(context, {
        ...options,
        name: checkedDriverName(options.driverName),
        nodeId: options.nodeId || hostname(),
        version,
        snapshotDelayMs: options.snapshotDelay,
        snapshotSecret: await secretIn(options.snapshotSecretFile),
        faults: options.fault,
        address: socketPathOf(options.endpoint),
        registration: endpoint === "" ? undefined : { endpoint, registryFolder },
      });
    }),
});
