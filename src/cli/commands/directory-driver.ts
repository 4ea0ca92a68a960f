/** `snapkeep directory-driver`: a CSI driver over plain directories, for laptops and tests. */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { Fault } from "../../base/fault.ts";
import { fileTrouble } from "../../base/file-trouble.ts";
import { createDirectoryDriver, serveDirectoryDriver } from "../../components/directory-driver/index.ts";
import { type Mishap, parseMishap } from "../../components/directory-driver/mishaps.ts";
import { socketPathOf } from "../../csi/address.ts";
import { checkedDriverName } from "../../csi/driver-name.ts";
import { createRegistration } from "../../csi/registration.ts";
import { complaintOf, defineCommand } from "../../runtime/command.ts";
import { loggingFlags } from "../../runtime/common-flags.ts";
import { duration, type Flag, text } from "../../runtime/flag-kinds.ts";
import { createLog } from "../../runtime/log.ts";

const trying = { group: "Trying things out" } as const;
const kubelet = { group: "Kubelet" } as const;

const readMishaps = (given: string): readonly (Mishap | string)[] =>
  given.split(",").map((word) => parseMishap(word.trim()));

/** One or several, separated by commas or by repeating the flag. */
export const mishaps: Flag<readonly Mishap[]> = {
  ...trying,
  type: "method=code*times[:after]",
  default: [],
  example: "CreateSnapshot=Unavailable*2",
  help: 'Calls to fail on purpose: "CreateSnapshot=Unavailable*2" refuses two, "DeleteSnapshot=DeadlineExceeded:after" does the work of one and loses the answer. Once they have failed, all is well. May be repeated.',
  expects: "a CSI method and a code, how often, and perhaps :after",
  read: (given, before = []) => {
    const read = readMishaps(given);
    return read.every((mishap) => typeof mishap !== "string") ? [...before, ...read] : undefined;
  },
  explain: (given) => readMishaps(given).find((mishap) => typeof mishap === "string") ?? "",
  print: (value) => value.map(({ method, code, times }) => `${method}=${code}*${times}`).join(","),
};

/** From a file, because everybody on the machine can read the arguments of a process. */
async function secretIn(file: string): Promise<string> {
  if (file === "") return "";
  const text = await readFile(file, "utf8").catch((reason: unknown) => {
    throw new Fault("FailedPrecondition", `--snapshot-secret-file ${file} cannot be read: ${fileTrouble(reason)}`);
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
      help: "Unix socket to listen on. Its folder must exist. Who can write to it can mount as root, so only its owner can.",
    }),
    root: text({
      default: "/var/lib/snapkeep/directory-driver",
      required: true,
      deprecated: { statedir: "this is csi-driver-host-path's name for --root" },
      help: "Folder that holds volumes and snapshots; made when it is not there. On XFS or btrfs, snapshots share their blocks with the volume; elsewhere they are copies.",
    }),
    driverName: text({
      default: "directory.snapkeep.dev",
      deprecated: { drivername: "this is csi-driver-host-path's name for --driver-name" },
      help: "Name of the driver, as storage classes and snapshot classes give it.",
    }),
    nodeId: text({
      default: "",
      example: "node-1",
      environment: "NODE_NAME",
      deprecated: { nodeid: "this is csi-driver-host-path's name for --node-id" },
      help: "Name of this node. Empty: the host's name.",
    }),
    kubeletRegistrationPath: text({
      ...kubelet,
      default: "",
      example: "/var/lib/kubelet/plugins/directory.snapkeep.dev/csi.sock",
      help: "The driver's socket as the kubelet sees it. Given, the driver registers itself with the kubelet; no node-driver-registrar is needed.",
    }),
    kubeletRegistryFolder: text({
      ...kubelet,
      default: "/var/lib/kubelet/plugins_registry",
      help: "The folder in which the kubelet looks for drivers, as this process sees it.",
    }),
    snapshotDelay: duration({
      ...trying,
      default: 0,
      min: 0,
      help: "A snapshot is cut at once, but ready to use only after this long, as on storage that uploads.",
    }),
    snapshotSecretFile: text({
      ...trying,
      default: "",
      example: "./token",
      help: 'File with a value, its last line break aside. Given, snapshots are taken and deleted only for callers whose secret holds this value under the key "token".',
    }),
    fault: mishaps,
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
      does: "See what happens when the storage is slow and twice not there",
      line: "snapkeep directory-driver --endpoint /tmp/csi.sock --root ./storage --snapshot-delay 30s --fault 'CreateSnapshot=Unavailable*2'",
    },
  ],
  check: ({ endpoint, driverName }) =>
    complaintOf(() => socketPathOf(endpoint)) ?? complaintOf(() => checkedDriverName(driverName)),
  async run({ options, world, signal, error, version }) {
    const { loggingFormat: format, verbosity, root } = options;
    const name = checkedDriverName(options.driverName);
    const address = socketPathOf(options.endpoint);
    const log = createLog({ format, verbosity, name: "directory-driver", world, out: error });
    const nodeId = options.nodeId || hostname();
    const driver = await createDirectoryDriver({
      ...options,
      name,
      nodeId,
      version,
      world,
      log,
      snapshotDelayMs: options.snapshotDelay,
      snapshotSecret: await secretIn(options.snapshotSecretFile),
    });
    const failing = new AbortController();
    const surroundings = { world, log, signal: AbortSignal.any([signal, failing.signal]) };
    const closed: Promise<void>[] = [];
    let started = false;
    try {
      closed.push((await serveDirectoryDriver(driver, { ...surroundings, address, mishaps: options.fault })).closed);
      log.info("serving volumes from plain directories, for laptops and tests", { driver: name, version, root });
      const endpoint = options.kubeletRegistrationPath;
      const registryFolder = options.kubeletRegistryFolder;
      if (endpoint !== "")
        closed.push((await createRegistration({ ...surroundings, driver: name, endpoint, registryFolder })).closed);
      started = true;
      await Promise.all(closed);
      return 0;
    } finally {
      failing.abort();
      await Promise.all(closed);
      await driver.close();
      if (!started) await driver.discard();
    }
  },
});
