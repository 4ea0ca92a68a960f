/** A process of its own: the test runner follows every promise, which takes longer than the scenarios. */
import { compare } from "./compare.ts";

Error.stackTraceLimit = 0;
const [first = 1, count = 1] = process.argv.slice(2).map(Number);
for (let seed = first; seed < first + count; seed++) process.send?.(await compare(seed));
process.disconnect();
