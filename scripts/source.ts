/** Which commit is built, and when it was made: what is built twice from one commit says the same. */
import { execFileSync } from "node:child_process";

const git = (cwd: string, ...args: readonly string[]): string => {
  try {
    return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
};

export interface Source {
  readonly revision: string;
  /** In SPDX's format: seconds, UTC. */
  readonly created: string;
}

export function sourceOf(root: string): Source {
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? (git(root, "log", "-1", "--format=%ct") || 0));
  return {
    revision: git(root, "rev-parse", "HEAD") || "unknown",
    created: new Date(seconds * 1000).toISOString().replace(".000Z", "Z"),
  };
}
