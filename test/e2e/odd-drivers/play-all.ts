/** All rows with the programs of one maker, some at a time. */
import { say } from "../harness/progress.ts";
import { type Maker, openHarness } from "./harness.ts";
import { play } from "./play.ts";
import type { Outcome, Row } from "./row.ts";

export async function playAll(
  name: string,
  maker: Maker,
  rows: readonly Row[],
  atOnce: number,
): Promise<readonly Outcome[]> {
  const harness = await openHarness(maker);
  const outcomes: Outcome[] = [];
  const work = async (left: [number, Row][]): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, row] = next;
      outcomes[index] = await play(harness, row, `odd-${index}`);
      say(`${name}: a driver that ${row.driver}`);
    }
  };
  const light = [...rows.entries()].filter(([, { isLoad }]) => isLoad !== true);
  try {
    await Promise.all(Array.from({ length: atOnce }, () => work(light)));
    await work([...rows.entries()].filter(([, { isLoad }]) => isLoad));
    return outcomes;
  } finally {
    await harness.close();
  }
}
