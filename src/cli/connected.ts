/** A tool's connection to a cluster: one attempt, closed when its work is done. */
import type { CommandContext } from "../runtime/command.ts";
import { type Connection, type ConnectOptions, connect } from "../runtime/connect.ts";
import { createLog } from "../runtime/log.ts";

interface ToolInput extends CommandContext {
  readonly options: ConnectOptions["flags"];
}

export async function connected<T>(
  name: string,
  { options, environment, version, world, signal, error }: ToolInput,
  more: Partial<Pick<ConnectOptions, "kinds" | "managedFields">>,
  work: (api: Connection["api"], target: Connection["target"]) => Promise<T>,
): Promise<T> {
  const log = createLog({ format: "text", verbosity: 0, name, world, out: error });
  // Up to the slash it is the field manager of what is written.
  const userAgent = `${name}/snapkeep-${version}`;
  const common = { flags: options, waitMsMax: 0, userAgent, environment, world, log, signal };
  const { api, target, close } = await connect({ kinds: [], ...common, ...more });
  try {
    return await work(api, target);
  } finally {
    close();
  }
}
