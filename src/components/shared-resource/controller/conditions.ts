/** What can be read off the conditions of a share. */
import { shareConditions } from "../../../api/names.ts";
import type { Condition } from "../../../api/types.ts";
import type { Share } from "./observe.ts";

const watched = Object.values(shareConditions);

const conditionOf = (share: Share | undefined, type: string): Condition | undefined =>
  share?.status?.conditions?.find((condition) => condition.type === type);

/** How many of the two conditions have left True, or have appeared with another status. */
export const becameNotTrue = (before: Share, after: Share): number =>
  watched.filter((type) => {
    const [old, now] = [conditionOf(before, type)?.status, conditionOf(after, type)?.status];
    return now !== undefined && now !== "True" && (old === undefined || old === "True");
  }).length;

/** Whether one of the two is there and not true. */
export const isNotTrue = (share: Share): boolean =>
  watched.some((type) => {
    const status = conditionOf(share, type)?.status;
    return status !== undefined && status !== "True";
  });
