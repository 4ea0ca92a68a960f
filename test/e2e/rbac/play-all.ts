/** Three control planes side by side: components that act on the same objects cannot be tried at the same time. */
import { type ControlPlane, startControlPlane } from "../harness/control-plane.ts";
import { say } from "../harness/progress.ts";
import { lineOf, type Outcome } from "./report.ts";
import { type SingleRight, textOf, triedRights } from "./rights.ts";
import { shareLives, shareStage } from "./share-lives.ts";
import { snapshotLives } from "./snapshot-lives.ts";
import { snapshotStage } from "./snapshot-stage.ts";
import { grant, type Life, play, tokensOf } from "./trial.ts";

type Lives = (plane: ControlPlane) => Promise<Readonly<Record<string, Life>>>;

const tracks: readonly { readonly components: readonly string[]; readonly lives: Lives }[] = [
  { components: ["snapshot-controller"], lives: async (plane) => snapshotLives(await snapshotStage(plane)) },
  {
    components: ["csi-snapshotter", "csi-provisioner"],
    lives: async (plane) => snapshotLives(await snapshotStage(plane)),
  },
  {
    components: ["webhook", "shared-resource-controller", "shared-resource"],
    lives: async (plane) => shareLives(await shareStage(plane)),
  },
];

export async function playAll(only: string): Promise<readonly Outcome[]> {
  const chosen = (right: SingleRight): boolean => textOf(right).includes(only);
  const all = await Promise.all(
    tracks.map(async ({ components, lives }) => {
      const wanted = components.filter((name) =>
        triedRights.some((right) => right.component === name && chosen(right)),
      );
      if (wanted.length === 0) return [];
      const plane = await startControlPlane({ tokens: tokensOf(wanted) });
      try {
        const table = await lives(plane);
        const outcomes: Outcome[] = [];
        for (const component of wanted) {
          const life = table[component];
          if (life === undefined) throw new Error(`${component} has no life`);
          const rights = triedRights.filter((right) => right.component === component);
          for (const taken of [undefined, ...rights.filter(chosen)]) {
            await grant(plane, component, rights, taken);
            outcomes.push(await play(plane, life, taken));
            say(lineOf(outcomes.at(-1) as Outcome));
          }
        }
        return outcomes;
      } finally {
        plane.stop();
      }
    }),
  );
  return all.flat();
}
