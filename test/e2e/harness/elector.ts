/**
 * A process of its own that stands for election and, while it leads, changes one object again and again. What it does it
 * says on standard output, one line of JSON each, dated by the clock that all processes of a machine share.
 *
 * usage: node elector.ts KUBECONFIG NAMESPACE IDENTITY [STOP_BEFORE_WRITE]
 */

import { Fault } from "../../../src/base/fault.ts";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import { type Leadership, lead } from "../../../src/kube/lease.ts";
import { connect } from "./client.ts";
import { type Deed, electionTimes } from "./election.ts";

const [kubeconfig = "", namespace = "", identity = "", stopBeforeWrite = "0"] = process.argv.slice(2);
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());

const say = (deed: Deed["deed"]): void =>
  void process.stdout.write(`${JSON.stringify({ at: Number(process.hrtime.bigint()) / 1e6, identity, deed })}\n`);

const { client, close } = await connect(kubeconfig);

async function work({ signal, stillLeading }: Leadership): Promise<void> {
  say("began");
  for (let writes = 1; !signal.aborted; writes++) {
    const object = await client.get({ kind: "ConfigMap", namespace, name: "work" });
    if (!stillLeading()) break;
    if (writes === Number(stopBeforeWrite)) {
      say("stopping");
      process.kill(process.pid, "SIGSTOP"); // Between the question and the write: the worst moment there is.
      say("continued");
    }
    say("writing");
    await client.replace("ConfigMap", { ...object, data: { writer: identity } }).then(
      () => say("written"),
      (reason) => say(Fault.from(reason).code === "Conflict" ? "refused" : "failed"),
    );
    await realWorld.sleep(20, signal).catch(() => undefined);
  }
  say("ended");
}

/** From its first look at the lease on, it counts the time until the holder's is over. */
let stands = false;
const api: typeof client = {
  ...client,
  get: async (place, ...more) => {
    const found = await client.get(place, ...more);
    if (!stands && place.kind === "Lease") {
      stands = true;
      say("stands");
    }
    return found;
  },
};

const options = { api, world: realWorld, log: silent, namespace, name: "leader", identity, ...electionTimes };
say(await lead({ ...options, signal: stop.signal }, work));
close();
