import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { accepted } from "./accepted.ts";
import { type Runner, startRunner } from "./runner.ts";
import type { Script } from "./script.ts";
import { accessScripts } from "./scripts/access.ts";
import { claimScripts, sourceScripts } from "./scripts/claims.ts";
import { deletionScripts } from "./scripts/deletion.ts";
import { objectScripts } from "./scripts/objects.ts";
import { storageScripts } from "./scripts/storage.ts";
import { workloadScripts } from "./scripts/workloads.ts";

const everything: readonly Script[] = [
  ...sourceScripts,
  ...claimScripts,
  ...storageScripts,
  ...objectScripts,
  ...accessScripts,
  ...workloadScripts,
  ...deletionScripts,
];

function compareAll(title: string, featureGates: Readonly<Record<string, boolean>>, scripts: readonly Script[]): void {
  describe(title, () => {
    let runner: Runner;
    before(async () => {
      runner = await startRunner(featureGates);
    });
    after(() => runner.stop());
    for (const script of scripts)
      test(`${title}: ${script.name}`, async () => {
        const { ours, theirs } = await runner.compare(script);
        assert.deepEqual(ours, theirs);
      });
    if (scripts === everything)
      test(`${title}: every accepted difference is still one`, () =>
        assert.deepEqual(
          accepted.filter((one) => one.where === "objects" && !runner.needed.has(one)),
          [],
        ));
  });
}

const gate = "CrossNamespaceVolumeDataSource";
compareAll("as the real server", { [gate]: false }, everything);
compareAll("as the real server with sources elsewhere allowed", { [gate]: true }, sourceScripts);
