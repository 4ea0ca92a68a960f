/** Reads what a component's /metrics says. */

export const scrape = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

/** The samples of one name with all of these labels. */
export const samplesOf = (
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): readonly string[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)));

export const numberOf = (sample: string | undefined): number => Number(sample?.split(" ").at(-1));

export const bucketsOf = (samples: readonly string[]): readonly number[] =>
  samples.flatMap((line) => /le="([0-9.]+)"/.exec(line)?.[1] ?? []).map(Number);

/** Names of the labels of a sample. */
export const labelsOf = (sample: string | undefined): readonly string[] =>
  [...(sample ?? "").matchAll(/(\w+)="/g)].map(([, label = ""]) => label).toSorted();
