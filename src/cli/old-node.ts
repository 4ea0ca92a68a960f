/** A release runs on whatever Node people have. One that is too old breaks somewhere in the middle, in words that help nobody. */

const majorOf = (version: string): number => Number(/\d+/.exec(version)?.[0]);

/** What to tell the person, if anything. `pinned` is the version that everything was tested with. */
export const complaintOfNode = (version: string, pinned: string): string | undefined =>
  majorOf(version) >= majorOf(pinned)
    ? undefined
    : `needs Node ${majorOf(pinned)} or newer, and this is ${version}; install it from https://nodejs.org, or let npm bring it: npx --package=node@${majorOf(pinned)} -- node FILE`;
