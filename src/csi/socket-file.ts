/** The file of a Unix socket outlives the process that made it: what stands there before we listen, and may it go? */
import { access, constants, lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import { Fault } from "../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../base/fs-errors.ts";

/** Makes room for a new socket. Removes only a leftover: a socket without a listening process. */
export async function makeRoomForSocket(path: string): Promise<void> {
  // libuv reports a missing folder as "permission denied", and gRPC wraps what it reports; look for ourselves.
  await access(dirname(path), constants.W_OK).catch((reason: unknown) => {
    const missing = errorCodeOf(reason) === "ENOENT";
    const remedy = missing
      ? "its folder does not exist, create it first"
      : `${fsErrorText(reason)}, choose another folder`;
    throw new Fault("FailedPrecondition", `socket ${path} cannot be made: ${remedy}`);
  });
  const found = await lstat(path).catch((reason: unknown) => {
    if (errorCodeOf(reason) === "ENOENT") return undefined;
    throw new Fault("FailedPrecondition", `socket ${path} cannot be made: ${fsErrorText(reason)}`);
  });
  if (found === undefined) return;
  if (!found.isSocket())
    throw new Fault("AlreadyExists", `${path} exists and is not a socket: move it away, or choose another address`);
  if (await answers(path))
    throw new Fault("AlreadyExists", `another process answers at ${path}: stop it, or choose another address`);
  await unlink(path).catch((reason: unknown) => {
    if (errorCodeOf(reason) !== "ENOENT")
      throw new Fault("FailedPrecondition", `leftover socket ${path} cannot be removed: ${fsErrorText(reason)}`);
  });
}

/** Only ECONNREFUSED proves that no process listens; a full queue or a missing permission does not. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (reason) => resolve(!["ECONNREFUSED", "ENOENT"].includes(errorCodeOf(reason))));
  });
