/** How a command ends: one rule for all of them. docs/reference/exit-codes.md is printed from these rows. */
export const exitCodes = {
  good: {
    code: 0,
    meaning: "Success. A component received SIGINT, SIGTERM or SIGHUP and stopped gracefully.",
  },
  failed: {
    code: 1,
    meaning:
      "A tool has findings, or an operation failed at run time: a file, a server, a driver. The last line names the error and the remedy.",
  },
  usage: { code: 2, meaning: "The command line is invalid. Nothing was started." },
  blocked: {
    code: 3,
    meaning: "Only of commands that wait: the condition is blocked, and waiting longer does not help.",
  },
  timeout: { code: 4, meaning: "Only of commands that wait: the condition was not met before the timeout." },
} as const;

/** The code of a process that a second signal ended at once: 128 and the number of the signal, as shells count. */
export const signalCodes: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
