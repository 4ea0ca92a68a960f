/** Mount options of a persistent volume. A folder is bound, not mounted: what the kernel keeps for each bind is applied, all else refused. */
import { Fault } from "../base/fault.ts";
import type { VolumeCapability } from "../csi/gen/csi_pb.js";

const applicable: readonly string[] = ["nosuid", "nodev", "noexec", "nosymfollow", "noatime", "nodiratime", "relatime"];
/** What the driver knows by itself: whether the volume is read-only. */
const known: readonly string[] = ["ro", "rw", ...applicable];

const optionsOf = ({ accessType }: VolumeCapability): readonly string[] =>
  accessType.case === "mount"
    ? accessType.value.mountFlags.flatMap((flag) => flag.split(",")).filter((option) => option !== "")
    : [];

/** Says what is wrong with the options of a volume, if anything is. */
export function unknownOption(capabilities: readonly VolumeCapability[]): string | undefined {
  const unknown = capabilities.flatMap(optionsOf).find((option) => !known.includes(option));
  return unknown === undefined
    ? undefined
    : `mount option "${unknown}" cannot be applied to a directory: leave it out of mountOptions; possible are ${known.join(", ")}`;
}

export const asksReadOnly = (capability: VolumeCapability): boolean => optionsOf(capability).includes("ro");

/** Without ro and rw. */
export function flagsOf(capability: VolumeCapability): readonly string[] {
  const refusal = unknownOption([capability]);
  if (refusal !== undefined) throw new Fault("InvalidArgument", refusal);
  return applicable.filter((option) => optionsOf(capability).includes(option));
}
