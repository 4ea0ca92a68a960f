/** One process per root: a second one would take what the first is just making for leftovers, and throw it away. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createServer } from "node:net";
import { Fault } from "../../base/fault.ts";

/**
 * The lock is a socket without a file, named after the root's inode: the kernel gives a name to one process at a time, and
 * takes it back however that process ends. Only Linux has such names; elsewhere nothing is locked.
 */
export async function lockRoot(root: string): Promise<() => void> {
  if (process.platform !== "linux") return () => undefined;
  const { dev, ino } = await stat(root);
  const server = createServer((socket) => socket.destroy()).unref();
  server.listen(`\0snapkeep-directory-driver-${dev}-${ino}`);
  try {
    await once(server, "listening");
  } catch {
    throw new Fault(
      "FailedPrecondition",
      `another process keeps its volumes in ${root}: stop it, or choose another --root`,
    );
  }
  return () => void server.close();
}
