/** Programs of the harness that ended although no test stopped them: the usual cause of a timeout. */

export interface Fallen {
  readonly folder: string;
  readonly name: string;
  lastOutput(): string;
}

let all: readonly Fallen[] = [];
let listener: ((fallen: Fallen) => void) | undefined;

/** For a person who looks at the terminal: a test asks when it fails. */
export const whenExited = (tell: (fallen: Fallen) => void): void => {
  listener = tell;
};

export const noteExited = (fallen: Fallen): void => {
  all = [...all, fallen];
  listener?.(fallen);
};

/** Leftovers of a stopped instance are not an error. */
export const forgetExited = (folder: string): void => {
  all = all.filter((fallen) => fallen.folder !== folder);
};

/** Continues a sentence; empty when all are alive. */
export const describeExited = (): string =>
  all
    .map(({ name, lastOutput: lastWords }) => `; ${name} has ended by itself, its last words: ${lastWords().trim()}`)
    .join("");
