/** The flags of `npm run chaos`. */
import { parseArgs } from "node:util";
import { flagHelp, numbersIn, outputOf, type Parsed, stringsFor } from "../../flags.ts";

export interface ChaosOptions {
  readonly seed: number;
  /** After so long no more faults are begun. */
  readonly minutes: number;
  /** Time limit for the system to come to rest without faults. */
  readonly quietMinutes: number;
  readonly users: number;
  readonly kills: number;
  readonly gaps: number;
  readonly disconnects: number;
  readonly delays: number;
  readonly lostReplies: number;
  readonly apiRestarts: number;
  readonly etcdRestarts: number;
  readonly handovers: number;
  readonly driverRestarts: number;
  /** Where the logs are copied to; empty: nowhere. */
  readonly logs: string;
}

const numbers = {
  seed: { value: 1, help: "determines the order of the faults and the users' actions (not the moments)" },
  minutes: { value: 30, help: "start no more faults after this time", partly: true },
  "quiet-minutes": { value: 5, help: "time limit for the system to come to rest afterwards", partly: true },
  users: { value: 5, help: "number of simulated users who take, restore and delete snapshots" },
  kills: { value: 100, help: "kill -9 of a component at any moment" },
  gaps: {
    value: 24,
    help: "kill -9 of the csi-provisioner just before or after one of its writes or calls; 12 are all there are",
  },
  disconnects: { value: 500, help: "watch disconnects between a replica and the API server" },
  delays: { value: 40, help: "periods in which a replica's replies are delayed by up to a second" },
  "lost-replies": { value: 100, help: "writes that take effect and whose reply is lost" },
  "api-restarts": { value: 5, help: "restarts of the API server, gracefully or by kill -9" },
  "etcd-restarts": { value: 2, help: "restarts of etcd by kill -9" },
  handovers: { value: 20, help: "leaders stopped (SIGSTOP) until another replica leads, then continued" },
  "driver-restarts": { value: 10, help: "restarts of the CSI driver by kill -9" },
} as const;

export const usage = `npm run chaos [-- flags]

Starts a real control plane, two replicas each of the snapshot-controller, the csi-snapshotter and the csi-provisioner, and a
CSI driver. Simulated users take, restore and delete snapshots and claims while faults are injected. When the system is at rest again, the run compares the API with the
driver and prints the faults, the recovery times and every violation. It cleans up at the end, also on Ctrl-C.

${flagHelp(numbers)}
  --logs FOLDER       folder for the logs of all processes at the end
  -o, --output text|json
                      output format; progress goes to standard error (default text)
  -h, --help          this text

Examples:
  npm run chaos                                        # the full run, about a quarter of an hour
  npm run chaos -- --kills 5 --disconnects 20 --api-restarts 1 --etcd-restarts 0 --handovers 1 --driver-restarts 1
  npm run chaos -- --seed 7 --minutes 5                # another order, as much as fits
  npm run -s chaos -- -o json > result.json

Exit code: 0 if all faults were injected without a violation, 1 otherwise, 2 for an invalid flag.
The programs are built once from pinned Go modules (Go 1.26 or newer), or come from KUBEBUILDER_ASSETS.
`;

export function parseOptions(args: readonly string[]): Parsed<ChaosOptions> {
  try {
    const more = {
      logs: { type: "string" },
      output: { type: "string", short: "o" },
      help: { type: "boolean", short: "h" },
    } as const;
    const { values } = parseArgs({ args: [...args], options: { ...stringsFor(numbers), ...more } });
    if (values.help === true) return { kind: "help" };
    const {
      "quiet-minutes": quietMinutes,
      "lost-replies": lostReplies,
      "api-restarts": apiRestarts,
      "etcd-restarts": etcdRestarts,
      "driver-restarts": driverRestarts,
      ...others
    } = numbersIn(numbers, values);
    const restarts = { apiRestarts, etcdRestarts, driverRestarts };
    const options = { ...others, ...restarts, quietMinutes, lostReplies, logs: values.logs ?? "" };
    return { kind: "run", options, output: outputOf(values.output) };
  } catch (reason) {
    return { kind: "wrong", why: (reason as Error).message };
  }
}
