/** Free loopback ports below the range the kernel hands out by itself, so that no outgoing connection takes one first. */
import { createServer } from "node:net";

const lowest = 20_000;
const highest = 32_000;
const triesMax = 100;

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found on 127.0.0.1 between ${lowest} and ${highest}`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
