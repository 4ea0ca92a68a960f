/** Takes over what an earlier process has mounted. */
import { loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { VolumeHost } from "./host.ts";
import type { MountedVolumes } from "./mounted.ts";
import type { VolumeRecord } from "./records.ts";
import type { VolumeWriter } from "./volume-writer.ts";

export interface RecoverOptions {
  readonly host: VolumeHost;
  readonly mounted: MountedVolumes;
  readonly writer: Pick<VolumeWriter, "settle">;
  /** What a volume may take: counted where nobody can say what it does take. */
  readonly volumeBytes: number;
  readonly log: Log;
}

export async function recover(options: RecoverOptions): Promise<void> {
  const { host, mounted, log } = options;
  const { records, skipped } = await host.records.all();
  for (const [file, reason] of Object.entries(skipped)) log.warn("record of a volume skipped", { file, reason });
  const found = await host.mounted(records.map(({ spec }) => spec));
  for (const record of records) {
    const { id, target } = record.spec;
    try {
      if (found.has(id)) await takeOver(options, record);
      else if (await host.isGone(target)) await host.records.remove(id);
      else log.info("volume of a record is not mounted", { volume: id, target });
    } catch (reason) {
      log.error("mounted volume cannot be taken over", { volume: id, target, reason: loggable(reason) });
    }
  }
  if (records.length > 0) log.info("volumes taken over", { records: records.length, mounted: mounted.count() });
}

async function takeOver(
  { host, mounted, writer, volumeBytes, log }: RecoverOptions,
  { spec, source }: VolumeRecord,
): Promise<void> {
  const digest = await host.adopt(spec.target).catch((reason: unknown) => {
    const about = { volume: spec.id, target: spec.target };
    log.error("files of a mounted volume cannot be read, replacing them", { ...about, reason: loggable(reason) });
    return "unreadable" as const;
  });
  await writer.settle(spec, await host.sizes(spec.target).catch(() => [["unreadable", volumeBytes] as const]));
  const known = digest === "unreadable" ? undefined : digest;
  const written = digest === undefined ? undefined : { digest: known, source: source ?? "" };
  mounted.add(mounted.open(spec, { written, source }));
}
