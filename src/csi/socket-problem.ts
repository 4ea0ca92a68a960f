/** Why a driver does not answer at its socket, as far as the file and a connection tell. */
import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import { errorCodeOf, fsErrorText } from "../base/fs-errors.ts";

export async function socketProblem(path: string): Promise<string> {
  const found = await lookAt(path);
  if (!(found instanceof Error)) return found.isSocket() ? connectionProblem(path) : `${path} is not a socket`;
  if (errorCodeOf(found) !== "ENOENT") return `${path} cannot be looked at: ${fsErrorText(found)}`;
  return (await lookAt(dirname(path))) instanceof Error
    ? `the folder ${dirname(path)} does not exist: mount the volume there that the driver's socket is in, or correct the address`
    : `there is no socket ${path}: does the driver run, and does it listen at this path?`;
}

const lookAt = (path: string): Promise<Stats | Error> =>
  stat(path).catch((reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason))));

const connectionProblem = (path: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(`a process listens at ${path} and has not answered`);
    });
    socket.once("error", (reason) =>
      resolve(
        errorCodeOf(reason) === "ECONNREFUSED"
          ? `nobody listens at ${path}: the process that made the socket has ended`
          : `${path} cannot be connected: ${fsErrorText(reason)}`,
      ),
    );
  });
