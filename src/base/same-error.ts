/** Drivers put request ids and times into error messages: messages that differ only in those report the same error. */

export const isSameError = (before: string, after: string): boolean => withoutNumbers(before) === withoutNumbers(after);

/** Each number or hexadecimal id becomes "#". One pass over each run of such characters, however long a driver's text is. */
const withoutNumbers = (text: string): string => text.replace(/[0-9a-f-]+/gi, withoutNumber);

function withoutNumber(run: string): string {
  const digit = run.search(/\d/);
  return digit === -1 ? run : `${run.slice(0, run.lastIndexOf("-", digit) + 1)}#`;
}
