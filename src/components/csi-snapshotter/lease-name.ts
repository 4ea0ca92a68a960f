/** Exactly the lease name of upstream's sidecar: with another name both could lead during a swap. */
export const leaseNameFor = (driver: string): string => {
  const name = `external-snapshotter-leader-${driver}`.replace(/[^A-Za-z0-9-]/g, "-");
  return name.endsWith("-") ? `${name}X` : name;
};
