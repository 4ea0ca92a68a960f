/** Commands for another terminal, to try a snapshot on the running cluster. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { apiVersionOf } from "../../api/kinds.ts";
import { createDemoObjects, fileIn, names } from "./demo-objects.ts";
import type { Stack } from "./stack.ts";

const snapshotName = "monday";
const words = "yours to spoil";

const manifest = {
  apiVersion: apiVersionOf("VolumeSnapshot"),
  kind: "VolumeSnapshot",
  metadata: { name: snapshotName },
  spec: { source: { persistentVolumeClaimName: names.claim } },
};

interface Options {
  readonly stack: Stack;
  /** Where the manifest is written. */
  readonly folder: string;
  /** Where volumes and snapshots lie. */
  readonly root: string;
  /** With the context, where it is needed. */
  readonly kubectl: string;
}

/** With a claim and a default class there, one object is all that it takes. */
export async function nextSteps({ stack, folder, root, kubectl }: Options): Promise<string> {
  await createDemoObjects(stack, `${words}\n`);
  const file = join(folder, `${snapshotName}.yaml`);
  await writeFile(file, stringify(manifest));
  const steps: readonly (readonly [string, string])[] = [
    ["take a snapshot of the claim data", `${kubectl} apply -f ${file}`],
    [
      "wait until it is ready",
      `${kubectl} wait --for=jsonpath='{.status.readyToUse}'=true volumesnapshot/${snapshotName}`,
    ],
    ["overwrite the file in the volume", `echo spoiled > ${fileIn(stack)}`],
    [`the snapshot still has: ${words}`, `cat ${root}/snapshots/*/data/${names.file}`],
    ["delete the snapshot and its files", `${kubectl} delete volumesnapshot ${snapshotName}`],
  ];
  return steps.map(([does, line]) => `\n  # ${does}\n  ${line}\n`).join("");
}
