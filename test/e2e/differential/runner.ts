/** Runs request scripts against the embedded API server and a real one, side by side. */
import { Agent, request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { createApiServer, type User, volumeBinder } from "../../../src/apiserver/index.ts";
import { readAll } from "../../../src/base/http.ts";
import { isObject, type JsonValue, parse } from "../../../src/base/json.ts";
import { realWorld } from "../../../src/base/world.ts";
import { type ControlPlane, startControlPlane } from "../harness/control-plane.ts";
import { type Accepted, accepted } from "./accepted.ts";
import { normal } from "./normal.ts";
import type { Person, Script, Step } from "./script.ts";

export interface Outcome {
  readonly status: number;
  readonly warnings: string;
  readonly body: JsonValue;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One of the two servers. */
interface Side {
  ask(step: Step): Promise<RawAnswer>;
}

const groupsOf: Readonly<Record<Person, readonly string[]>> = { alice: ["dev"], bob: [] };
const everyone = "system:authenticated";
const patchTypes: Readonly<Record<string, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

const headersOf = ({ type, body, accept }: Step): Record<string, string> => ({
  ...(body === undefined ? {} : { "content-type": patchTypes[type ?? ""] ?? type ?? "application/json" }),
  ...(accept === undefined ? {} : { accept }),
});
const textOf = ({ body }: Step): string | undefined =>
  body === undefined || typeof body === "string" ? body : JSON.stringify(body);

function embeddedSide(featureGates: Readonly<Record<string, boolean>>): Side & { stop(): void } {
  const stop = new AbortController();
  // As in the token file of the real server, where lines are counted.
  const masters: User = { name: "admin", uid: "0", groups: ["system:masters", everyone] };
  const people = Object.keys(groupsOf);
  const server = createApiServer({
    world: realWorld,
    featureGates,
    // The real side has kube-controller-manager.
    plugins: [volumeBinder],
    authenticate: ({ headers }) => {
      const person = headers.person as Person | undefined;
      return person === undefined
        ? masters
        : { name: person, uid: String(people.indexOf(person) + 1), groups: [...groupsOf[person], everyone] };
    },
  });
  server.run(stop.signal).catch((reason) => {
    throw reason;
  });
  return {
    stop: () => stop.abort(),
    async ask(step) {
      const { status, headers, body } = await server.handler({
        method: step.method,
        path: step.path,
        headers: { ...headersOf(step), ...(step.as === undefined ? {} : { person: step.as }) },
        body: textOf(step),
      });
      return { status, headers, text: await readAll(body) };
    },
  };
}

async function realSide(
  featureGates: Readonly<Record<string, boolean>>,
): Promise<Side & { readonly plane: ControlPlane }> {
  const people = Object.entries(groupsOf) as [Person, readonly string[]][];
  const plane = await startControlPlane({
    featureGates,
    tokens: people.map(([user, groups]) => ({ user, groups, token: `${user}-token` })),
  });
  const agent = new Agent({ keepAlive: true, ca: plane.authority.certificate });
  return {
    plane,
    ask: (step) => send(plane, agent, step),
  };
}

/** Node does not frame the body of a DELETE by itself. */
const lengthOf = (step: Step): Record<string, string> =>
  step.body === undefined ? {} : { "content-length": String(Buffer.byteLength(textOf(step) ?? "")) };

const send = (plane: ControlPlane, agent: Agent, step: Step): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const authorization = `Bearer ${step.as === undefined ? plane.token : `${step.as}-token`}`;
    const outgoing = request(
      new URL(step.path, plane.url),
      { method: step.method, agent, headers: { ...headersOf(step), ...lengthOf(step), authorization } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => void chunks.push(chunk));
        incoming.on("error", reject).on("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers as Record<string, string>,
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    outgoing.on("error", reject).end(textOf(step));
  });

const untilMsMax = 60_000;
const pauseMs = 40;

async function answered(side: Side, step: Step): Promise<RawAnswer> {
  const givenUpAt = performance.now() + untilMsMax;
  for (;;) {
    const answer = await side.ask(step);
    if (step.until === undefined) return answer;
    const body = bodyOf(answer);
    if (step.until(isObject(body) ? body : {}, answer.status)) return answer;
    if (performance.now() > givenUpAt)
      throw new Error(`gave up waiting for what ${step.method} ${step.path} should answer; it is ${answer.text}`);
    await delay(pauseMs);
  }
}

/** A name the server made up stands in more than one place. */
function withoutMadeUpName(text: string): string {
  const [, prefix = ""] = /"generateName": ?"([^"]+)"/.exec(text) ?? [];
  return prefix === "" ? text : text.replace(new RegExp(`${prefix}[a-z0-9]{5}\\b`, "g"), `${prefix}made-up`);
}

const isJson = ({ headers }: RawAnswer): boolean => headers["content-type"]?.includes("json") === true;
const bodyOf = (answer: RawAnswer): JsonValue =>
  isJson(answer) && answer.text !== "" ? parse(withoutMadeUpName(answer.text)) : answer.text;
/** One event in each line. */
const eventsOf = ({ text }: RawAnswer): JsonValue =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => parse(withoutMadeUpName(line)));
const isWatch = ({ path }: Step): boolean => path.includes("watch=true");

interface Answered {
  readonly step: Step;
  readonly answer: RawAnswer;
}

/** What was answered, without what must differ. */
function outcomeOf({ step, answer }: Answered, differences: readonly Accepted[]): Outcome {
  if (step.unseen === true) return { status: 0, warnings: "", body: null };
  return {
    status: answer.status,
    warnings: answer.headers.warning ?? "",
    body: normal(isWatch(step) && answer.status === 200 ? eventsOf(answer) : bodyOf(answer), {
      managedFields: step.managedFields === true,
      accepted: differences,
    }),
  };
}

/** What stands for "$WORD" in paths and bodies. */
export type Words = Readonly<Record<string, string>>;

function filledIn(step: Step, words: Words): Step {
  const fill = (text: string): string =>
    Object.entries(words).reduce((filled, [word, meaning]) => filled.replaceAll(`$${word}`, meaning), text);
  const body = textOf(step);
  return { ...step, path: fill(step.path), ...(body === undefined ? {} : { body: fill(body) }) };
}

export interface Pair {
  readonly ours: readonly Outcome[];
  readonly theirs: readonly Outcome[];
}

export interface Runner {
  /** The two lists of outcomes, step by step. */
  compare(script: Script): Promise<Pair>;
  /** The accepted differences without which a script would have failed so far. */
  readonly needed: ReadonlySet<Accepted>;
  stop(): void;
}

export async function startRunner(
  featureGates: Readonly<Record<string, boolean>> = {},
  words: Words = {},
): Promise<Runner> {
  const embedded = embeddedSide(featureGates);
  const real = await realSide(featureGates);
  const needed = new Set<Accepted>();
  let count = 0;

  const runOn = async (side: Side, script: Script, number: number): Promise<readonly Answered[]> => {
    const namespace = `ns-${number}`;
    await side.ask({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
    const all: Answered[] = [];
    for (const step of script.steps) {
      const filled = filledIn(step, { ...words, NS: namespace, ID: `id-${number}` });
      all.push({ step: filled, answer: await answered(side, filled) });
    }
    return all;
  };

  return {
    needed,
    async compare(script) {
      count += 1;
      const number = count;
      const both = await Promise.all([runOn(embedded, script, number), runOn(real, script, number)]);
      const outcomes = (differences: readonly Accepted[]): Pair => {
        const [ours, theirs] = both.map((side) => side.map((each) => outcomeOf(each, differences)));
        return { ours: ours ?? [], theirs: theirs ?? [] };
      };
      const isSame = ({ ours, theirs }: Pair): boolean => isDeepStrictEqual(ours, theirs);
      if (isSame(outcomes(accepted)) && !isSame(outcomes([])))
        for (const one of accepted) if (!isSame(outcomes(accepted.filter((other) => other !== one)))) needed.add(one);
      return outcomes(accepted);
    },
    stop() {
      embedded.stop();
      real.plane.stop();
    },
  };
}
