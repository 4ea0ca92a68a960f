/** Where the rows are played: a real control plane, the controller of one maker, and a sidecar of the same maker for each row. */
import { startCommand } from "../../command-line.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import { guideRights } from "../../guide-rights.ts";
import type { Client } from "../harness/client.ts";
import { kubeconfigOf, type Place } from "../harness/component-users.ts";
import { startComponent } from "../harness/components.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import { grantTo, shippedSidecarAccount } from "../harness/shipped-accounts.ts";
import { testServers } from "../harness/snapshot-suites.ts";
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
  startController(place: Place, flags: readonly string[]): Promise<unknown>;
  startSidecar(place: Place, id: string, flags: readonly string[]): Promise<Sidecar>;
}

export interface OddDriverHarness {
  readonly client: Client;
  readonly folder: string;
  readonly proxy: FaultProxy;
  readonly settledMs: number;
  startSidecar(id: string, flags: readonly string[]): Promise<Sidecar>;
  close(): Promise<void>;
}

/** Flags of both implementations, with short intervals. */
const retries = ["--retry-interval-start=200ms", "--retry-interval-max=1s"];

export async function openHarness(maker: Maker): Promise<OddDriverHarness> {
  const place = await testServers["real control plane"]();
  const { proxy, kubeconfig } = await proxyTo(place);
  await maker.startController({ ...place, kubeconfig }, retries);
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
  startController: (place, flags) => startComponent(place, "snapshot-controller", flags),
  startSidecar: async ({ instance, kubeconfig: path, plane }, _id, flags) => {
    if (plane === undefined) throw new Error("the rows are played on a real control plane");
    const driver = { driver: "odd.example.com", topology: false, attachments: false, capacity: false };
    const account = await shippedSidecarAccount(plane, "csi-snapshotter", driver);
    await grantTo(plane, account, "secrets", guideRights.secrets);
    const kubeconfig = kubeconfigOf(instance, path, account);
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
