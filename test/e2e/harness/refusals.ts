/** What the scenarios share that has a server refuse writes. */
import type { Refusing } from "../../fault-proxy.ts";
import { until } from "./until.ts";

/** Often enough to see that it is tried again and again. */
export const untilRefused = ({ count }: Refusing): Promise<true> =>
  until({ what: "it was refused three times" }, () => (count() >= 3 ? true : undefined));
