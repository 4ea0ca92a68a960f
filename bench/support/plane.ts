/** The frame of a benchmark on a real control plane that compares our programs with others, turn by turn. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Client, connect } from "../../test/e2e/harness/client.ts";
import { type ControlPlane, startControlPlane } from "../../test/e2e/harness/control-plane.ts";
import type { Side } from "./sides.ts";

/** What the options of the command line ask for. */
export interface Wanted {
  /** Where to leave processor profiles; then only ours run, and nothing is compared. */
  readonly profiles: string | undefined;
  /** The folder of another bundle of ours, to compare with instead of the Go programs. */
  readonly against: string | undefined;
  /** Who ours are compared with. */
  readonly other: Side;
  /** Who takes part in a round, in order. Who goes first may find a quicker machine, so they take turns. */
  turns(round: number): readonly Side[];
}

export interface Plane {
  readonly plane: ControlPlane;
  readonly client: Client;
  readonly wanted: Wanted;
}

export async function withPlane(
  chosen: ReadonlyMap<string, string>,
  measure: (plane: Plane) => Promise<void>,
): Promise<void> {
  // The default of Kubernetes: with thousands of volumes, looking at all of them each second would be measured.
  const plane = await startControlPlane({ controllerManagerFlags: ["--pvclaimbinder-sync-period=15s"] });
  const { client, close } = await connect(plane.kubeconfig);
  try {
    await measure({ plane, client, wanted: wantedBy(chosen) });
  } finally {
    close();
    plane.stop();
  }
}

function wantedBy(chosen: ReadonlyMap<string, string>): Wanted {
  const against = chosen.get("--against=");
  const other: Side = against === undefined ? "reference" : "against";
  const profiles = chosen.has("--profile") ? join(import.meta.dirname, "../dist/profiles") : undefined;
  if (profiles !== undefined) mkdirSync(profiles, { recursive: true });
  const turns = (round: number): readonly Side[] =>
    profiles !== undefined ? ["snapkeep"] : round % 2 === 0 ? ["snapkeep", other] : [other, "snapkeep"];
  return { profiles, against, other, turns };
}
