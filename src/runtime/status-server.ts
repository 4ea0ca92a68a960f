/** Metrics and health over HTTP, for anybody who reaches the pod: unauthenticated, so a question costs little. */
import { limits } from "../base/limits.ts";
import { parseAddress } from "./address.ts";
import { overHttp, type ServeOptions, type Server } from "./serve.ts";
import { type StatusPagesOptions, statusPages } from "./status-pages.ts";

/** Undefined when the flag names no address: then nothing is served. */
export async function serveStatus(
  httpEndpoint: string,
  pages: StatusPagesOptions,
  { log, world }: Pick<ServeOptions, "log" | "world">,
): Promise<Server | undefined> {
  const address = parseAddress(httpEndpoint);
  if (address === undefined) return undefined;
  const server = await overHttp(statusPages(pages), {
    address,
    log,
    world,
    requestBytesMax: 0,
    connectionsMax: limits.statusConnectionsMax,
  });
  log.info("serving metrics and health", { url: server.url });
  return server;
}
