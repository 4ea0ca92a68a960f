/** First installation: a copy of dist, an installed package or a clone, on a Node, as a user, with or without install scripts. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type NodeVersion, nodeFolder } from "./nodes.ts";

export const root = resolve(import.meta.dirname, "../../..");

export interface Case {
  readonly from: "dist" | "pack" | "clone";
  readonly node: NodeVersion;
  readonly user: "root" | "nobody";
  readonly scripts: boolean;
}

export interface Outcome {
  readonly step: string;
  readonly verdict: "works" | "says what to do" | "broken";
  /** The line that says what to do, or all that a broken step has said. */
  readonly said: string;
}

export const titleOf = ({ from, node, user, scripts }: Case): string =>
  `${from.padEnd(5)}  Node ${node}  ${user.padEnd(6)}  ${from === "dist" ? "-" : scripts ? "scripts" : "--ignore-scripts"}`;

const nobody = 65_534;
/** The machine's certificates and proxies are a stranger's too; what npm tells its scripts is not. */
const ofTheMachine = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE$|NODE_OPTIONS|CI$)/i.test(name)),
);

/** A folder for everything, with dist and the package in it, built once. */
export function createWorkshop() {
  const folder = mkdtempSync(join(tmpdir(), "first-steps-"));
  chmodSync(folder, 0o755);
  const quietly = { cwd: root, stdio: "ignore" } as const;
  execFileSync(process.execPath, ["scripts/build.ts", join(folder, "dist")], quietly);
  execFileSync("npm", ["pack", "--pack-destination", folder], quietly);
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  const ownCache = execFileSync("npm", ["config", "get", "cache"], { cwd: folder, encoding: "utf8" }).trim();
  let count = 0;

  async function play(given: Case): Promise<readonly Outcome[]> {
    const home = join(folder, `home-${++count}`);
    mkdirSync(home);
    const id = given.user === "nobody" ? { uid: nobody, gid: nobody } : {};
    const bin = join(folder, `node-${given.node}`);
    // Nobody may not look into the cache of root.
    if (!existsSync(bin)) execFileSync("cp", ["-a", resolve(await nodeFolder(given.node), "../.."), bin]);
    // What this user has fetched before need not be fetched again; nobody has a cache for this run.
    const cache = given.user === "root" ? ownCache : join(folder, "cache");
    const env = {
      ...ofTheMachine,
      PATH: `${join(bin, "node_modules/.bin")}:/usr/local/bin:/usr/bin:/bin`,
      HOME: home,
      TMPDIR: home,
      npm_config_cache: cache,
      npm_config_update_notifier: "false",
    };
    mkdirSync(cache, { recursive: true });
    if (given.from === "clone")
      execFileSync("git", ["clone", "-q", "--depth=1", `file://${root}`, join(home, "clone")]);
    if (given.from === "dist") cpSync(join(folder, "dist"), join(home, "dist"), { recursive: true });
    if (given.user === "nobody")
      for (const path of [home, cache]) execFileSync("chown", ["-R", `${nobody}:${nobody}`, path]);
    const sh = (line: string, within = ""): Ended => {
      const cwd = join(home, within);
      const { status, stdout, stderr } = spawnSync("sh", ["-c", line], {
        cwd,
        env,
        ...id,
        encoding: "utf8",
        timeout: 600_000,
      });
      return { status, stdout, stderr };
    };
    try {
      return stepsOf(given, tarball, sh);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }
  return { play, close: () => rmSync(folder, { recursive: true, force: true }) };
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function stepsOf(given: Case, tarball: string, sh: (line: string, within?: string) => Ended): readonly Outcome[] {
  const flag = given.scripts ? "" : " --ignore-scripts";
  const tour = (line: string, within?: string): Outcome =>
    judged(line, sh(line, within), (out) => out.includes("✓ everything is deleted and nothing is left"));
  if (given.from === "dist") return [tour("node dist/snapkeep.js up --exit")];
  if (given.from === "pack") {
    const installed = sh(`npm install --no-audit --no-fund${flag} ${tarball}`);
    if (installed.status !== 0) return [judged("npm install", installed, () => false)];
    return [tour("npx snapkeep up --exit")];
  }
  const installed = sh(`npm ci${flag}`, "clone");
  if (installed.status !== 0) return [judged("npm ci", installed, () => false)];
  const started = tour("npm start -- --exit", "clone");
  // The whole of npm test takes minutes; that it begins on a good Node is shown by its first half.
  const tested = started.verdict === "works" ? "npm run check" : "npm test";
  return [started, judged(tested, sh(tested, "clone"), (out) => /architecture: good/.test(out))];
}

/** Works, or says in one line of ours what to do; npm's own lines around it are not ours. */
function judged(step: string, { status, stdout, stderr }: Ended, isGood: (stdout: string) => boolean): Outcome {
  if (status === 0 && isGood(stdout)) return { step, verdict: "works", said: "" };
  const lines = stderr.split("\n").filter((line) => line !== "" && !/^npm (warn|error|notice|ERR!|WARN)/.test(line));
  const [line = ""] = lines;
  if (status === 1 && lines.length === 1 && /^snapkeep: .*; run: /.test(line))
    return { step, verdict: "says what to do", said: line };
  return { step, verdict: "broken", said: `exit code ${status}: ${stdout}${stderr}`.slice(-2_000) };
}
