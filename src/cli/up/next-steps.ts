/** Commands for another terminal, to take and restore a snapshot on the running cluster. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { createClaim, manifests, names } from "./demo-objects.ts";
import type { Stack } from "./stack.ts";
import type { WaitingContext } from "./waiting.ts";

const words = "yours to spoil";

interface Options extends WaitingContext {
  readonly stack: Stack;
  /** Where the manifests are written. */
  readonly folder: string;
  /** With the context, where it is needed. */
  readonly kubectl: string;
}

/** Creates a claim with a file, and the manifests that the commands apply. */
export async function demoSteps({ folder, kubectl, ...waiting }: Options): Promise<string> {
  const volume = await createClaim(waiting, manifests.claim);
  await writeFile(volume.file, `${words}\n`);
  const manifestFile = async (manifest: (typeof manifests)["snapshot" | "restored"]): Promise<string> => {
    const path = join(folder, `${manifest.metadata.name}.yaml`);
    await writeFile(path, stringify(manifest));
    return path;
  };
  const restoredVolume = `$(${kubectl} get pvc ${names.restored} -o jsonpath='{.spec.volumeName}')`;
  const steps: readonly (readonly [string, ...string[]])[] = [
    [
      `take a snapshot of the claim ${names.claim}`,
      `${kubectl} apply -f ${await manifestFile(manifests.snapshot)}`,
      `${kubectl} wait --for=jsonpath='{.status.readyToUse}'=true volumesnapshot/${names.snapshot}`,
    ],
    ["overwrite the file in the volume", `echo spoiled > ${volume.file}`],
    [
      "restore the snapshot into a new claim",
      `${kubectl} apply -f ${await manifestFile(manifests.restored)}`,
      `${kubectl} wait --for=jsonpath='{.status.phase}'=Bound pvc/${names.restored}`,
    ],
    [`the restored volume has: ${words}`, `cat ${volume.file.replace(volume.name, restoredVolume)}`],
  ];
  return steps.map(([does, ...lines]) => `\n  # ${[does, ...lines].join("\n  ")}\n`).join("");
}
