/** Nobody should wonder whether a long step still lives: it says so after two seconds and then every fifteen. */
const firstMs = 2_000;
const thenMs = 15_000;

export const say = (line: string): void => void process.stderr.write(`${line}\n`);

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export async function withProgress<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  let timer = setTimeout(function tell() {
    say(`… ${what} (${Math.round(took() / 1000)} s)`);
    timer = setTimeout(tell, thenMs);
  }, firstMs);
  try {
    const result = await work();
    if (took() >= firstMs) say(`… ${what}: done in ${seconds(took())}`);
    return result;
  } finally {
    clearTimeout(timer);
  }
}
