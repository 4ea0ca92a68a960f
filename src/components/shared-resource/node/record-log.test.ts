import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fields, Log } from "../../../base/log.ts";
import { nodeLimits } from "./limits.ts";
import { createRecordLog } from "./record-log.ts";
import type { VolumeRecord } from "./records.ts";

const record = (id: string): VolumeRecord => ({
  spec: {
    id,
    target: `/pods/${id}/mount`,
    shareKind: "SharedSecret",
    share: "tls",
    pod: { namespace: "team", name: "web-1", uid: "7a0f", serviceAccount: "web" },
    refresh: true,
  },
  source: "Secret team data",
});

function stage(all: () => Promise<{ records: readonly VolumeRecord[]; skipped: Readonly<Record<string, string>> }>) {
  const lines: { message: string; fields: Fields }[] = [];
  const add = (message: string, fields: Fields = {}): void => void lines.push({ message, fields });
  const log = { debug: add, info: add, warn: add, error: add, with: () => log } as unknown as Log;
  let nowMs = 0;
  const ask = createRecordLog({ records: { all }, log, world: { elapsed: () => nowMs } });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { lines, ask, pass };
}

test("asked, the driver writes its records into the log, and says only how many there are", async () => {
  const { ask, lines } = stage(async () => ({
    records: [record("csi-1"), record("csi-2")],
    skipped: { "csi-3": "not a JSON object" },
  }));
  assert.equal(await ask(), "the log has 2 records of volumes, and 1 that cannot be read\n");
  assert.deepEqual(
    lines.map(({ message, fields }) => [message, fields.volume]),
    [
      ["record of a volume", "csi-1"],
      ["record of a volume", "csi-2"],
      ["record of a volume cannot be read", "csi-3"],
    ],
  );
  assert.equal(lines[0]?.fields.share, "tls");
});

test("however often it is asked, the log gets them once in ten minutes", async () => {
  const { ask, lines, pass } = stage(async () => ({ records: [record("csi-1")], skipped: {} }));
  const answers = await Promise.all(Array.from({ length: 100 }, ask));
  assert.equal(new Set(answers).size, 1);
  assert.equal(lines.length, 1);
  pass(nodeLimits.recordsLoggedEveryMs);
  await ask();
  assert.equal(lines.length, 2);
});

test("no more records are written than the limit, and a folder that cannot be read is said", async () => {
  const many = Array.from({ length: nodeLimits.recordsLoggedMax + 5 }, (_, index) => record(`csi-${index}`));
  const { ask, lines } = stage(async () => ({ records: many, skipped: {} }));
  assert.match(await ask(), new RegExp(`has ${many.length} records`));
  assert.equal(lines.length, nodeLimits.recordsLoggedMax);
  const broken = stage(() => Promise.reject(new Error("no folder")));
  assert.match(await broken.ask(), /cannot be read/);
  assert.equal(broken.lines.length, 1);
});
