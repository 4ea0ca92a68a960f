/** One process per root: a second one would take what the first is just making for leftovers, and throw it away. */
import { once } from "node:events";
import { closeSync, fstatSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { Fault } from "../../base/fault.ts";

/**
 * The lock is a socket without a file, named after the root's inode: the kernel gives a name to one process at a time, and
 * takes it back however that process ends. The root is kept open meanwhile, so that its inode cannot become another folder's
 * even if somebody removes it. Only Linux has such names; elsewhere nothing is locked.
 */
export async function lockRoot(root: string): Promise<() => void> {
  if (process.platform !== "linux") return () => undefined;
  const folder = openSync(root, "r");
  const { dev, ino } = fstatSync(folder);
  const server = createServer((socket) => socket.destroy()).unref();
  server.listen(`\0snapkeep-directory-driver-${dev}-${ino}`);
  try {
    await once(server, "listening");
  } catch {
    closeSync(folder);
    throw new Fault(
      "FailedPrecondition",
      `another process keeps its volumes in ${root}: stop it, or choose another --root`,
    );
  }
  server.once("close", () => closeSync(folder));
  return () => void server.close();
}
