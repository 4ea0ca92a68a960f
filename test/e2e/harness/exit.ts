/**
 * What must happen however the process ends, short of kill -9: a signal becomes an ordinary exit, and an exit runs what
 * was registered. Only synchronous work fits here, which is why all tidying up in this folder is synchronous.
 */
const tasks = new Set<() => void>();
let installed = false;

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** Returns a function that takes the task off again. */
export function onExit(task: () => void): () => void {
  install();
  tasks.add(task);
  return () => void tasks.delete(task);
}

function install(): void {
  if (installed) return;
  installed = true;
  process.on("exit", () => {
    // Newest first: a node goes before its control plane.
    for (const task of [...tasks].reverse()) attempt(task);
  });
  for (const [signal, number] of Object.entries(signals)) process.on(signal, () => process.exit(128 + number));
}

/** One task that fails must not keep the others from running. */
function attempt(task: () => void): void {
  try {
    task();
  } catch (reason) {
    process.stderr.write(`while stopping: ${reason instanceof Error ? reason.message : String(reason)}\n`);
  }
}
