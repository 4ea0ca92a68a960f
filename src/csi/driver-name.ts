/** A driver's name becomes part of file names, leases and objects, so what a socket answers is checked before use. */
import { Fault } from "../base/fault.ts";

/** At most 63 of letters, digits, "-" and ".", the first and last being a letter or digit (CSI, GetPluginInfo). */
const wellFormed = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i;

export function checkedDriverName(name: string): string {
  if (wellFormed.test(name)) return name;
  throw new Fault(
    "FailedPrecondition",
    `driver name ${JSON.stringify(name)} is not valid: CSI wants 1 to 63 letters, digits, "-" and ".", letter or digit at both ends`,
  );
}
