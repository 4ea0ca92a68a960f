/** Drivers that do what they are asked, and answer oddly: once, a few times, or for long. */
import type { VolumeSnapshotContent } from "../../../src/api/types.ts";
import { type Oddity, oddities, volumeOddities, withoutAlias } from "../odd.ts";
import type { Seen } from "../record.ts";
import { pass } from "../verdict.ts";
import { type FaultRow, oneOf } from "./fault.ts";

const answering = (oddity: Oddity): FaultRow => ({
  name: `odd-${oddity.name}`,
  family: "odd",
  on: ["csi"],
  strike: ({ backend, recorder, draw }) => {
    backend.odd = { oddity, left: oneOf(draw, [1, 3, 20, ...(oddity.name === "unreadable-deletions" ? [1_000] : [])]) };
    backend.idOf = ({ id }) => recordedAs(recorder, id) ?? id;
    return pass;
  },
});

export const oddAnswers: readonly FaultRow[] = [
  ...oddities.map(answering),
  ...volumeOddities.map((oddity): FaultRow => ({ ...answering(oddity), needs: "provisions" })),
];

/** A corrected driver returns the recorded one of two ids; the other would be an error forever. */
const recordedAs = (seen: Seen, id: string): string | undefined =>
  [...seen.objects("VolumeSnapshotContent").values()]
    .map((object) => (object as VolumeSnapshotContent).status?.snapshotHandle)
    .find((handle) => handle !== undefined && withoutAlias(handle) === id);
