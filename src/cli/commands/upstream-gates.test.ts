import assert from "node:assert/strict";
import { test } from "node:test";
import type { Log } from "../../base/log.ts";
import { logIdleGates, upstreamGates } from "./upstream-gates.ts";

const { read } = upstreamGates({ group: "x" });
const rows: readonly [given: string, gives: ReturnType<typeof read> | object][] = [
  ["CSIVolumeGroupSnapshot=false", { CSIVolumeGroupSnapshot: false }],
  ["WatchList=false,AllAlpha=true", { CSIVolumeGroupSnapshot: true, WatchList: false, AllAlpha: true }],
  ["ReleaseLeaderElectionOnExit=true", { CSIVolumeGroupSnapshot: true, ReleaseLeaderElectionOnExit: true }],
];
for (const [given, gives] of rows)
  test(`an upstream feature gate is accepted: ${given}`, () => assert.deepEqual(read(given, undefined), gives));

for (const given of ["WatchListClient=false", "NoSuch=true", "WatchList", "WatchList=on"])
  test(`a feature gate that upstream rejects is rejected: ${given}`, () =>
    assert.equal(read(given, undefined), undefined));

test("the log names a feature gate without effect", () => {
  const said: string[] = [];
  const say = (message: string, fields?: object): void =>
    void said.push(`${message}${fields === undefined ? "" : ` ${JSON.stringify(fields)}`}`);
  const log = { info: say, warn: say } as unknown as Log;
  logIdleGates({ CSIVolumeGroupSnapshot: false }, log);
  assert.deepEqual(said, []);
  logIdleGates({ CSIVolumeGroupSnapshot: true, WatchList: false }, log);
  assert.match(said.join("\n"), /^.*have no effect {"gates":\["WatchList"\]}$/);
});
