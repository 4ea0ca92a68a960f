/** The lease's name, letter for letter that of the program replaced: otherwise a swap would have two leaders. */
export const leaseNameFor = (driver: string): string => {
  const name = `external-snapshotter-leader-${driver}`.replace(/[^A-Za-z0-9-]/g, "-");
  return name.endsWith("-") ? `${name}X` : name;
};
