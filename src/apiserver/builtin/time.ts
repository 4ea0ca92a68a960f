/** Times as Kubernetes writes them. */
import type { Millis } from "../../base/brand.ts";

/** "2024-05-06T07:08:09Z" */
export const secondsOf = (now: Millis): string => `${new Date(now).toISOString().slice(0, 19)}Z`;
