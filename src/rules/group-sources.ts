/**
 * Which claim each volume of a group was of, and its mode, as they were when the group was first processed. The note on the group content
 * makes the members' names right whatever has become of claims and volumes since.
 */
import { annotations } from "../api/names.ts";
import type { VolumeGroupSnapshotContent } from "../api/types.ts";
import { isObject, parse, print } from "../base/json.ts";

export interface GroupSource {
  readonly claim: string;
  /** Filesystem or Block. */
  readonly mode?: string;
}

export const noteOfSources = (sources: ReadonlyMap<string, GroupSource>): string =>
  print(Object.fromEntries([...sources].map(([handle, source]) => [handle, { ...source }])));

/** The keys are volume handles. Anybody may write an annotation: what cannot be read is left out. */
export function groupSourcesOf({ metadata }: VolumeGroupSnapshotContent): ReadonlyMap<string, GroupSource> {
  const text = metadata.annotations?.[annotations.groupSources];
  try {
    const noted = parse(text ?? "{}");
    const rows = isObject(noted) ? Object.entries(noted) : [];
    return new Map(
      rows.flatMap(([handle, value]): [string, GroupSource][] => {
        if (!isObject(value) || typeof value.claim !== "string" || value.claim === "") return [];
        return [[handle, { claim: value.claim, ...(typeof value.mode === "string" ? { mode: value.mode } : {}) }]];
      }),
    );
  } catch {
    return new Map();
  }
}
