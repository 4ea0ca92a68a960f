/** Installed Node versions: three releases, each with the npm that came with it, from the npm registry into the cache. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "../harness/run.ts";

export const nodeVersions = ["18", "20", "24"] as const;
export type NodeVersion = (typeof nodeVersions)[number];
const npmOf: Readonly<Record<NodeVersion, string>> = { "18": "10", "20": "10", "24": "11" };

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "snapkeep/nodes");

/** The folder that holds `node` and `npm` of that release. */
export async function nodeFolder(version: NodeVersion): Promise<string> {
  const folder = join(cache, `${version}-npm-${npmOf[version]}`);
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`;
    mkdirSync(draft, { recursive: true });
    const platform = `node-${process.platform}-${process.arch}@${version}`;
    const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    const { code, stderr } = await run(
      "npm",
      ["install", "--prefix", draft, ...flags, platform, `npm@${npmOf[version]}`],
      {
        msMax: 300_000,
      },
    );
    if (code !== 0) throw new Error(`Node ${version} cannot be had from the npm registry: ${stderr}`);
    rmSync(join(draft, `node_modules/node-${process.platform}-${process.arch}/include`), {
      recursive: true,
      force: true,
    });
    renameSync(draft, folder);
  }
  return join(folder, "node_modules/.bin");
}
