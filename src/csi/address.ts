/** Where a driver listens: "unix:///run/csi/socket", "unix:/run/csi/socket" or the bare path. */
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";

export function socketPathOf(address: string): string {
  const path = /^unix:(?:\/\/)?(.*)$/.exec(address)?.[1] ?? address;
  if (path === "") throw new Fault("InvalidArgument", `CSI address "${address}" names no socket: give the path of one`);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path))
    throw new Fault("InvalidArgument", `CSI address "${address}" is not a Unix socket: give a path or unix:///path`);
  const bytes = Buffer.byteLength(path);
  if (bytes > limits.socketPathBytesMax)
    throw new Fault(
      "InvalidArgument",
      `CSI address "${address}": the path has ${bytes} bytes, the kernel takes ${limits.socketPathBytesMax}: use a shorter one`,
    );
  return path;
}
