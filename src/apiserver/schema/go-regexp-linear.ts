/**
 * Matching in one pass over the text, as Go does it: all ways through the pattern are followed side by side. JavaScript's own
 * engine tries them one after the other, which some patterns make it do for longer than anybody waits.
 */
import type { Look, Piece } from "./go-regexp-parse.ts";

type Step =
  | { readonly kind: "one"; readonly accepts: (character: string) => boolean; readonly next: number }
  | { readonly kind: "look"; readonly look: Look; readonly next: number }
  /** The first way is preferred. */
  | { readonly kind: "fork"; ways: readonly number[] }
  | { readonly kind: "match" };

export interface LinearPattern {
  test(text: string): boolean;
  /** The match that begins first, from `from` on: [begin, end). */
  find(text: string, from: number): readonly [number, number] | undefined;
}

const stepsMax = 200_000;

/** Steps from back to front: each knows what follows it. */
function stepsOf(piece: Piece): { readonly steps: readonly Step[]; readonly first: number } {
  const steps: Step[] = [{ kind: "match" }];
  const add = (step: Step): number => {
    if (steps.length >= stepsMax) throw new Error("expression too large");
    return steps.push(step) - 1;
  };
  const build = (of: Piece, next: number): number => {
    switch (of.kind) {
      case "one":
        return add({ kind: "one", accepts: acceptorOf(of.js, of.anyCase), next });
      case "look":
        return add({ kind: "look", look: of.look, next });
      case "all":
        return of.of.reduceRight((following, inner) => build(inner, following), next);
      case "any":
        return add({ kind: "fork", ways: of.of.map((inner) => build(inner, next)) });
      case "repeat":
        return buildRepeat(of, next);
    }
  };
  const buildRepeat = ({ of, min, max, lazy }: Piece & { kind: "repeat" }, next: number): number => {
    const ordered = (on: number, out: number): readonly number[] => (lazy ? [out, on] : [on, out]);
    let following = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop: Step & { kind: "fork" } = { kind: "fork", ways: [] };
      following = add(loop);
      loop.ways = ordered(build(of, following), next);
    } else
      for (let count = min; count < max; count += 1)
        following = add({ kind: "fork", ways: ordered(build(of, following), next) });
    for (let count = 0; count < min; count += 1) following = build(of, following);
    return following;
  };
  const first = build(piece, 0);
  return { steps, first };
}

function acceptorOf(js: string, anyCase: boolean): (character: string) => boolean {
  const expression = new RegExp(`^(?:${js})$`, anyCase ? "iu" : "u");
  return (character) => expression.test(character);
}

const isWord = (character: string): boolean => /^[0-9A-Za-z_]$/.test(character);

/** Whether a look holds between two characters; "" stands for the edge of the text. */
function holds(look: Look, before: string, after: string): boolean {
  switch (look) {
    case "begin":
      return before === "";
    case "end":
      return after === "";
    case "lineBegin":
      return before === "" || before === "\n";
    case "lineEnd":
      return after === "" || after === "\n";
    case "word":
      return isWord(before) !== isWord(after);
    default:
      return isWord(before) === isWord(after);
  }
}

/** Whatever can be reached from these steps without reading on, in order of preference; without the forks on the way. */
function reach(steps: readonly Step[], from: Iterable<number>, before: string, after: string): number[] {
  const seen = new Set<number>();
  const found: number[] = [];
  for (const start of from) {
    const stack = [start];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const step = steps[at];
      if (step?.kind === "fork") stack.push(...step.ways.toReversed());
      else if (step?.kind === "look") {
        if (holds(step.look, before, after)) stack.push(step.next);
      } else found.push(at);
    }
  }
  return found;
}

/** Where one may stand in the pattern; which characters lead where is found out once and kept. */
interface Standing {
  readonly at: readonly number[];
  /** The last character, as far as looks ask for it. */
  readonly before: string;
  readonly ways: Map<string, Standing | "match">;
}

const standingsMax = 2_000;
const waysMax = 20_000;

export function linearPattern(piece: Piece): LinearPattern {
  const { steps, first } = stepsOf(piece);
  let standings = new Map<string, Standing>();
  let ways = 0;

  function standingAt(at: readonly number[], before: string): Standing {
    const key = `${before} ${at.join()}`;
    const known = standings.get(key) ?? { at, before, ways: new Map() };
    standings.set(key, known);
    return known;
  }

  function after(standing: Standing, character: string): Standing | "match" {
    const reached = reach(steps, standing.at, standing.before, character);
    if (reached.includes(0)) return "match";
    const next = new Set<number>();
    for (const at of reached) {
      const step = steps[at];
      if (step?.kind === "one" && character !== "" && step.accepts(character)) next.add(step.next);
    }
    // A match may begin anywhere.
    next.add(first);
    const kind = character === "\n" ? "\n" : isWord(character) ? "w" : "-";
    return standingAt(
      [...next].sort((a, b) => a - b),
      kind,
    );
  }

  function test(text: string): boolean {
    if (standings.size > standingsMax || ways > waysMax) {
      standings = new Map();
      ways = 0;
    }
    let standing = standingAt([first], "");
    for (const character of text) {
      let next = standing.ways.get(character);
      if (next === undefined) {
        next = after(standing, character);
        standing.ways.set(character, next);
        ways += 1;
      }
      if (next === "match") return true;
      standing = next;
    }
    return after(standing, "") === "match";
  }

  return { test, find: (text, from) => findFirst(steps, first, text, from) };
}

interface Thread {
  readonly at: number;
  readonly began: number;
}

function findFirst(
  steps: readonly Step[],
  first: number,
  text: string,
  from: number,
): readonly [number, number] | undefined {
  let threads: readonly Thread[] = [];
  let best: readonly [number, number] | undefined;
  let before = from === 0 ? "" : ([...text.slice(Math.max(from - 2, 0), from)].at(-1) ?? "");
  for (let position = from; position <= text.length; ) {
    const character = characterAt(text, position);
    const begun = best === undefined ? [...threads, { at: first, began: position }] : threads;
    const { next, matched } = readOne(steps, begun, before, character);
    if (matched !== undefined) best = [matched.began, position];
    if (character === "" || (next.length === 0 && best !== undefined)) break;
    threads = next;
    before = character;
    position += character.length;
  }
  return best;
}

/** "" at the end. */
function characterAt(text: string, position: number): string {
  const code = text.codePointAt(position);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** Threads come in order of preference: one that has matched ends those after it, and lets those before it go on. */
function readOne(
  steps: readonly Step[],
  threads: readonly Thread[],
  before: string,
  character: string,
): { readonly next: readonly Thread[]; readonly matched?: Thread } {
  const next = new Map<number, Thread>();
  const seen = new Set<number>();
  for (const thread of threads)
    for (const reached of reach(steps, [thread.at], before, character)) {
      if (seen.has(reached)) continue;
      seen.add(reached);
      const step = steps[reached];
      if (step?.kind === "match") return { next: [...next.values()], matched: thread };
      if (step?.kind !== "one" || character === "" || !step.accepts(character) || next.has(step.next)) continue;
      next.set(step.next, { at: step.next, began: thread.began });
    }
  return { next: [...next.values()] };
}
