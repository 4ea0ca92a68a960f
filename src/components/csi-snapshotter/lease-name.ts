import { leaseNameFrom } from "../../api/names.ts";

export const leaseNameFor = (driver: string): string => leaseNameFrom(`external-snapshotter-leader-${driver}`);
