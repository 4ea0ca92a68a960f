/** `node --expose-gc memory.ts <ours|theirs> <served as JSON> <objects>`: prints RSS before and after a cache is filled. */
import { ourClient, theirClient } from "./clients.ts";
import type { Served } from "./served.ts";

const [who, servedText = "", countText = "0"] = process.argv.slice(2);
const served = JSON.parse(servedText) as Served;

/** What remains after collections; pages that V8 gives back late are given time to go. */
async function settledRss(): Promise<number> {
  for (let times = 0; times < 5; times++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage.rss();
}

const emptyRss = await settledRss();
const client = who === "ours" ? ourClient(served) : await theirClient(served);
const objects = await client.fill(Number(countText));
const rss = await settledRss();
const { heapUsed } = process.memoryUsage();
console.log(JSON.stringify({ name: client.name, objects, emptyRss, rss, heapUsed }));
client.close();
process.exit(0);
