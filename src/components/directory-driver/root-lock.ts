/** One process per root: a second one would take what the first is just making for leftovers, and throw it away. */
import { open } from "node:fs/promises";
import { Fault } from "../../base/fault.ts";
import { endOf, firstInherited } from "../../node/program.ts";

/** Given to flock as the exit code that says it. */
const lockedByAnother = 75;

/**
 * The lock is on the root folder itself, wherever it is seen from: processes in other network or mount namespaces find it as well. flock(1)
 * locks the file we have opened, and the lock stays with that: the kernel takes it back however this process ends, and programs that it
 * started do not inherit it. Only Linux has flock(1); elsewhere nothing is locked.
 */
export async function lockRoot(root: string): Promise<() => Promise<void>> {
  if (process.platform !== "linux") return () => Promise.resolve();
  const folder = await open(root, "r");
  try {
    const flags = ["--exclusive", "--nonblock", "--conflict-exit-code", String(lockedByAnother)];
    const { code, complaints } = await endOf("flock", [...flags, String(firstInherited)], { inherits: [folder.fd] });
    if (code !== 0)
      throw code === lockedByAnother ? inUse(root) : unlockable(root, complaints[0] ?? `exit code ${code}`);
  } catch (reason) {
    await folder.close();
    throw reason;
  }
  return () => folder.close();
}

const inUse = (root: string): Fault =>
  new Fault("FailedPrecondition", `another process keeps its volumes in ${root}: stop it, or choose another --root`);

const unlockable = (root: string, complaint: string): Fault =>
  new Fault("FailedPrecondition", `${root} cannot be locked (${complaint}): choose another --root`);
