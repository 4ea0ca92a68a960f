/** Which functions of our sources were called, by the engine's own count. */
import { Session } from "node:inspector";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../sources.ts";

export interface Called {
  /** "src/api/plan.ts". */
  readonly file: string;
  /** "" for a function without a name. */
  readonly name: string;
  /** Where it begins in its file: a name may stand there twice. */
  readonly at: number;
}

export interface Coverage {
  /** What was called since the last look, by file and by place in it. */
  take(): readonly Called[];
  end(): void;
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

export function startCoverage(): Coverage {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const take = (): readonly Called[] => {
    let scripts: readonly ScriptCoverage[] | undefined;
    // A session in the same thread has answered when post returns.
    session.post("Profiler.takePreciseCoverage", (failed, { result }) => {
      if (failed !== null) throw failed;
      scripts = result;
    });
    if (scripts === undefined) throw new Error("the profiler did not answer at once");
    return scripts.flatMap(calledIn).sort((a, b) => (a.file === b.file ? a.at - b.at : a.file < b.file ? -1 : 1));
  };
  take();
  return { take, end: () => session.disconnect() };
}

/** The clock of the walk itself: components of a cluster have the machine's. */
const clock = "src/runtime/virtual-world.ts";

function calledIn({ url, functions }: ScriptCoverage): readonly Called[] {
  const file = url.startsWith("file://") ? relative(root, fileURLToPath(url)) : "";
  if (!file.startsWith("src/") || file === clock) return [];
  return functions.flatMap(({ functionName: name, ranges: [whole] }) =>
    whole === undefined || whole.count === 0 ? [] : [{ file, name, at: whole.startOffset }],
  );
}
