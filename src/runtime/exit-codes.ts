/** How a command ends: one rule for all of them. docs/reference/exit-codes.md is printed from these rows. */
export const exitCodes = {
  good: {
    code: 0,
    meaning: "All went well. A component was asked to stop (SIGINT, SIGTERM, SIGHUP) and stopped in order.",
  },
  failed: {
    code: 1,
    meaning:
      "A tool has findings, or something failed at run time: a file, a server, a driver. The last line says what and what to do.",
  },
  usage: { code: 2, meaning: "The command line is wrong, whatever the state of the machine. Nothing was begun." },
  blocked: {
    code: 3,
    meaning: "Only of commands that wait: what was waited for is blocked, and waiting longer does not help.",
  },
  timeout: { code: 4, meaning: "Only of commands that wait: it was not there in time." },
} as const;

/** The code of a process that a second signal ended at once: 128 and the number of the signal, as shells count. */
export const signalCodes: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
