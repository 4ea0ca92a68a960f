/** The Go toolchain: which version is there, and building with it. */
import { execFile, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { onExit } from "./exit.ts";
import { say } from "./progress.ts";

const needed = [1, 26] as const;
const remedy = `install Go ${needed.join(".")} or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder that holds the programs`;
const everyMs = 15_000;

export const buildFlags = ["-mod=readonly", "-trimpath", "-buildvcs=false"] as const;

let known: Promise<string> | undefined;

/** For example "go1.26.8"; throws one line that says what to install. */
export const goVersion = (): Promise<string> => {
  known ??= ask();
  return known;
};

async function ask(): Promise<string> {
  // Outside of any module: inside one, an older Go would download the toolchain the module asks for.
  const answer = await promisify(execFile)("go", ["env", "GOVERSION"], { cwd: tmpdir(), env: environment() }).catch(
    () => undefined,
  );
  if (answer === undefined) throw new Error(`the end-to-end tests need Go, and there is no "go" in PATH: ${remedy}`);
  const version = answer.stdout.trim();
  if (!isNewEnough(version)) throw new Error(`the end-to-end tests need Go, and "go" in PATH is ${version}: ${remedy}`);
  return version;
}

export function isNewEnough(version: string): boolean {
  const [, major = 0, minor = 0] = (/^go(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
}

const environment = (): NodeJS.ProcessEnv => ({ ...process.env, CGO_ENABLED: "0", GOFLAGS: "", GOWORK: "off" });

interface Build {
  readonly folder: string;
  readonly output: string;
  readonly packages: readonly string[];
  readonly flags: readonly string[];
  /** What to call it on the screen. */
  readonly label: string;
}

export async function goBuild({ folder, output, packages, flags, label }: Build): Promise<void> {
  const startedAt = performance.now();
  say(`building ${label} from the pinned Go modules (once; minutes when Go's own cache is cold)`);
  const timer = setInterval(
    () => say(`… building ${label} (${Math.round((performance.now() - startedAt) / 1000)} s)`),
    everyMs,
  );
  const child = spawn("go", ["build", ...flags, "-o", output, ...packages], {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const forget = onExit(() => child.kill("SIGKILL"));
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  try {
    const code = await new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
    if (code !== 0) throw new Error(`go build of ${label} failed in ${folder}:\n${complaint.trim().slice(-4_000)}`);
  } finally {
    clearInterval(timer);
    forget();
  }
}
