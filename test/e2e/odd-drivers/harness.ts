/** Where the rows are played: a real control plane, the controller of one maker, and a sidecar of the same maker for each row. */
import { startCommand } from "../../command-line.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import type { Client } from "../harness/client.ts";
import { startComponent } from "../harness/components.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import { type Place, testServers } from "../harness/snapshot-suites.ts";
import { until } from "../harness/until.ts";

export interface Sidecar {
  /** Why nothing can come of it any more, if so. */
  problem(): string | undefined;
  /** What is to be told of the program itself; mostly nothing. */
  note(): string;
  stop(): Promise<void>;
}

/** Whose programs they are. */
export interface Maker {
  /** An error that stays this long, with the retries of the harness, counts as the final one. */
  readonly settledMs: number;
  startController(place: Place, flags: readonly string[]): void;
  startSidecar(place: Place, id: string, flags: readonly string[]): Sidecar;
}

export interface OddDriverHarness {
  readonly client: Client;
  readonly folder: string;
  readonly proxy: FaultProxy;
  readonly settledMs: number;
  startSidecar(id: string, flags: readonly string[]): Sidecar;
  close(): Promise<void>;
}

/** Flags of both implementations, with short intervals. */
const retries = ["--retry-interval-start=200ms", "--retry-interval-max=1s"];

export async function openHarness(maker: Maker): Promise<OddDriverHarness> {
  const place = await testServers["real control plane"]();
  const { proxy, kubeconfig } = await proxyTo(place);
  maker.startController({ ...place, kubeconfig }, retries);
  return {
    client: place.connection.client,
    folder: place.instance.folder,
    proxy,
    settledMs: maker.settledMs,
    startSidecar: (id, flags) => maker.startSidecar(place, id, [...retries, ...flags]),
    close: async () => {
      await proxy.close();
      place.stop();
    },
  };
}

/** The controller as a process; the sidecars, many of them, inside of this one. */
export const ours: Maker = {
  settledMs: 3_000,
  startController: (place, flags) => void startComponent(place, "snapshot-controller", flags),
  startSidecar: ({ kubeconfig }, _id, flags) => {
    const { said, stop, code } = startCommand("csi-snapshotter", `--kubeconfig=${kubeconfig}`, ...flags);
    let ended: number | undefined;
    code.then((value) => {
      ended = value;
    });
    return {
      problem: () => (ended === undefined ? undefined : `the sidecar ended with ${ended}: ${said.text.slice(-1_000)}`),
      note: () => "",
      stop: async () => {
        stop();
        await until({ what: "the sidecar ends" }, () => ended);
      },
    };
  },
};
