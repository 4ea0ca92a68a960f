/** Replies that name a snapshot and say something impossible, or surprising, about it. An answer with a handle is an answer. */
import assert from "node:assert/strict";
import type { Kept, Script } from "../driver.ts";
import type { Outcome, Row } from "../row.ts";
import { message } from "../wire.ts";

const nowSeconds = () => BigInt(Math.floor(Date.now() / 1000));
const at = (seconds: bigint, nanos = 0) => ({ creationTime: { seconds, nanos } });

const bentCreate = (bend: (times: number, right: Kept) => Partial<Kept>): Script => ({
  createSnapshot: ({ honest, times }) => {
    const { snapshot } = honest();
    return message({ snapshot: { ...snapshot, ...bend(times, snapshot) } });
  },
});
const bentList = (bend: (times: number) => Partial<Kept>): Script => ({
  holds: ["kept"],
  listSnapshots: ({ honest, times }) =>
    message({ entries: honest().entries.map(({ snapshot }) => ({ snapshot: { ...snapshot, ...bend(times) } })) }),
});

const minuteMs = 60_000;
const createdNow = ({ ageMs = Number.NaN }: Outcome): void =>
  assert.ok(
    Math.abs(ageMs) < minuteMs,
    `by status.creationTime it was taken ${Math.round(ageMs / minuteMs)} minutes ago`,
  );
const sizeUnknown = ({ size }: Outcome): void => assert.equal(size, undefined, "status.restoreSize");

const oddTime = /Warning OddDriverReply creation_time is -?\d+ s/;
const oddSize = /Warning OddDriverReply size_bytes is -1/;

const oddities: readonly {
  readonly what: string;
  bend(): Partial<Kept>;
  shows(outcome: Outcome): void;
  /** The warning that the user gets of it. */
  readonly reports: RegExp;
}[] = [
  { what: "a creation time of zero", bend: () => at(0n), shows: createdNow, reports: oddTime },
  {
    what: "a creation time in milliseconds",
    bend: () => at(nowSeconds() * 1000n),
    shows: createdNow,
    reports: oddTime,
  },
  {
    what: "a creation time in nanoseconds",
    bend: () => at(nowSeconds() * 1_000_000_000n),
    shows: createdNow,
    reports: oddTime,
  },
  { what: "a creation time before 1970", bend: () => at(-62_135_596_800n), shows: createdNow, reports: oddTime },
  { what: "a negative size", bend: () => ({ sizeBytes: -1n }), shows: sizeUnknown, reports: oddSize },
];

export const metadataRows: readonly Row[] = [
  ...oddities.flatMap(({ what, bend, ...seen }): Row[] => [
    { driver: `answers ${what}`, script: bentCreate(bend), ...seen },
    { driver: `lists ${what}`, handle: "kept", script: bentList(bend), ...seen },
  ]),
  {
    driver: "answers a creation time of zero while it is at work, and another one when it is done",
    script: bentCreate((times) => (times < 3 ? { ...at(0n), readyToUse: false } : {})),
    shows: createdNow,
  },
  {
    driver: "says of a snapshot that it is not ready, and with the third answer that it is",
    script: bentCreate((times) => ({ readyToUse: times > 2 })),
  },
  {
    driver: "lists a snapshot that is not ready, and with the third answer is",
    handle: "kept",
    script: bentList((times) => ({ readyToUse: times > 2 })),
  },
  {
    driver: "answers the id of another volume",
    script: bentCreate(() => ({ sourceVolumeId: "another" })),
  },
  {
    driver: "answers another handle each time, and is never ready",
    script: bentCreate((times, { snapshotId }) => ({
      readyToUse: false,
      ...(times === 1 ? {} : { snapshotId: `${snapshotId}-${times}` }),
    })),
    right: { ready: false },
    says: /the driver answered handle ".*" for a snapshot it called ".*" before/,
  },
];
