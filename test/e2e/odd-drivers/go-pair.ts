/** The Go snapshot-controller and csi-snapshotter, started again whenever they end, as a cluster would. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Daemon } from "../harness/instance.ts";
import { startUpstream, unthrottled } from "../harness/upstream.ts";
import type { Maker } from "./harness.ts";

const restartMs = 1_000;
const panic = /^panic: /m;
/** The Go pair returns to work that it has forgotten at the next resync: a quarter of an hour away by default. */
const resync = "--resync-period=10s";

function keep(start: () => Daemon) {
  let [stopped, crashes] = [false, 0];
  let daemon: Daemon;
  const begin = (): void => {
    daemon = start();
    daemon.ended.then(async () => {
      if (stopped) return;
      if (panic.test(readFileSync(daemon.log, "utf8"))) crashes += 1;
      await sleep(restartMs, undefined, { ref: false });
      if (!stopped) begin();
    });
  };
  begin();
  return {
    crashes: () => crashes,
    stop: async () => {
      stopped = true;
      await daemon.stop();
    },
  };
}

export const goPair: Maker = {
  // It ends when it loses the driver, and is away until it was started again.
  settledMs: 10_000,
  startController: async (place, flags) =>
    void keep(() => startUpstream(place, "snapshot-controller", [...unthrottled, resync, ...flags])),
  startSidecar: async (place, _id, flags) => {
    const { crashes, stop } = keep(() => startUpstream(place, "csi-snapshotter", [...unthrottled, resync, ...flags]));
    return { problem: () => undefined, note: () => (crashes() === 0 ? "" : `${crashes()} crashes`), stop };
  },
};
