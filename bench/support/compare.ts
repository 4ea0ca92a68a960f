/** Two contestants turn by turn, and the ratios of what they reached. */
export interface Contestant {
  readonly name: string;
  /** Does the work once and says how many units it was. */
  work(): Promise<number>;
}

export interface Comparison {
  readonly what: string;
  readonly unit: string;
  readonly ours: Contestant;
  readonly theirs: Contestant;
  readonly rounds?: number;
}

interface Rate {
  readonly perSecond: number;
  /** Only this process counts: a busy machine does not change the figure. */
  readonly perCpuSecond: number;
}

const roundsUsual = 5;

/** Prints units per second of both and the ratios with their spread. The first round warms up and is not counted. */
export async function compare({ what, unit, ours, theirs, rounds = roundsUsual }: Comparison): Promise<void> {
  const pairs: { readonly ours: Rate; readonly theirs: Rate }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const pair = { ours: await rateOf(ours), theirs: await rateOf(theirs) };
    if (round > 0) pairs.push(pair);
  }
  const ratiosOf = (rate: keyof Rate): readonly number[] => pairs.map((pair) => pair.ours[rate] / pair.theirs[rate]);
  const figure = (name: string, rates: readonly Rate[]): string =>
    `${name} ${rounded(rates.map(({ perSecond }) => perSecond))} ${unit}/s (${rounded(rates.map(({ perCpuSecond }) => perCpuSecond))} per CPU second)`;
  const reached = [
    figure(
      ours.name,
      pairs.map((pair) => pair.ours),
    ),
    figure(
      theirs.name,
      pairs.map((pair) => pair.theirs),
    ),
  ];
  console.log(
    `${what}: ${reached.join(", ")}; ratio ${spread(ratiosOf("perSecond"))}, per CPU second ${spread(ratiosOf("perCpuSecond"))}`,
  );
}

const rounded = (values: readonly number[]): string => Math.round(median(values)).toLocaleString("en");
export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** The middle, and between what it lay. */
export const spread = (values: readonly number[], digits = 1): string => {
  const [low, high] = [Math.min(...values).toFixed(digits), Math.max(...values).toFixed(digits)];
  return `${median(values).toFixed(digits)} (${low}–${high})`;
};

async function rateOf({ work }: Contestant): Promise<Rate> {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const units = await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    perSecond: units / ((performance.now() - startedAt) / 1_000),
    perCpuSecond: units / ((user + system) / 1e6),
  };
}
