/** Metrics and health over HTTP, for anybody who reaches the pod: unauthenticated, so a question costs little. */
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { type Address, parseAddress } from "./address.ts";
import { overHttp, overHttps, type ServeOptions, type Server } from "./serve.ts";
import { type StatusPagesOptions, statusPages } from "./status-pages.ts";
import { followTlsFiles, readTlsFiles, type TlsFiles } from "./tls-files.ts";

type Surroundings = Pick<ServeOptions, "log" | "world">;

/** Undefined when the flag names no address: then nothing is served. */
export async function serveStatus(
  httpEndpoint: string,
  pages: StatusPagesOptions,
  surroundings: Surroundings,
): Promise<Server | undefined> {
  const address = parseAddress(httpEndpoint);
  if (address === undefined) return undefined;
  const server = await overHttp(statusPages(pages), serveOptions(address, surroundings));
  surroundings.log.info("serving metrics and health", { url: server.url });
  return server;
}

const serveOptions = (address: Address, surroundings: Surroundings): ServeOptions => ({
  ...surroundings,
  address,
  requestBytesMax: 0,
  connectionsMax: limits.statusConnectionsMax,
});

export interface TlsStatus {
  /** Empty: nothing is served. */
  readonly endpoint: string;
  readonly files: TlsFiles;
}

const lookEveryMs = 10_000;

/**
 * The same over TLS, from the moment on when certificate and key are there. A missing file or a port that is taken is reported and tried
 * again: the work of the process does not depend on it.
 */
export function serveStatusOverTls(
  { endpoint, files }: TlsStatus,
  pages: StatusPagesOptions,
  surroundings: Surroundings,
): { close(): Promise<void> } {
  const { log, world } = surroundings;
  const address = parseAddress(endpoint);
  const stop = new AbortController();
  const { signal } = stop;
  const serve = async (at: Address): Promise<void> => {
    const current = await readTlsFiles(files);
    const server = await overHttps(statusPages(pages), current, serveOptions(at, surroundings));
    log.info("serving metrics and health over TLS", { url: server.url });
    await followTlsFiles({ files, current, world, log, signal, apply: server.renew });
    await server.close();
  };
  const keepTrying = async (at: Address): Promise<void> => {
    let problem: string | undefined;
    while (!signal.aborted)
      await serve(at).catch((reason: unknown) => {
        const { message } = Fault.from(reason);
        if (message !== problem) log.info("metrics are not served over TLS", { endpoint, reason: message });
        problem = message;
        return world.sleep(lookEveryMs, signal).catch(() => undefined);
      });
  };
  const ended = address === undefined ? undefined : keepTrying(address);
  return {
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}
