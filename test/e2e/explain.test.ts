/** `snapkeep explain` on a real control plane: stuck objects beside the Go components and beside ours, asked about as a person asks. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startCommand } from "../command-line.ts";
import type { ClusterObject } from "../explain/cluster.ts";
import { harmIn } from "../explain/harm.ts";
import { casesAfterGo, casesWithGo, casesWithOurs, lastCasesWithGo, type RealCase } from "./explain/cases.ts";
import { type Stage, startStage } from "./explain/stage.ts";

const msMax = 60_000;

interface Answer {
  readonly verdict: string;
  readonly cause: { readonly code: string; readonly at: { readonly kind: string; readonly name: string } };
  readonly next: readonly { readonly says: string; readonly command?: string }[];
  readonly runs: readonly { readonly component: string; readonly program?: string; readonly release?: string }[];
}

describe("explain on a real control plane", () => {
  let stage: Stage;
  let wrong: string[] = [];
  let wrongOfAll = 0;
  const harms: string[] = [];
  let asked = 0;
  let withGo = 0;

  before(async () => {
    stage = await startStage();
  });
  after(() => stage?.stop());

  let lastAsked: Promise<unknown> = Promise.resolve();
  /** One after another: the driver runs in this process too, and has to reply in time. */
  function ask(words: string, isGuest: boolean): Promise<Answer | string> {
    const answer = lastAsked.then(() => askNow(words, isGuest));
    lastAsked = answer.catch(() => undefined);
    return answer;
  }

  async function askNow(words: string, isGuest: boolean): Promise<Answer | string> {
    const kubeconfig = isGuest ? stage.guestKubeconfig : stage.plane.kubeconfig;
    const { code, said } = startCommand(
      "explain",
      words,
      `--kubeconfig=${kubeconfig}`,
      `-n=${stage.namespace}`,
      "-o=json",
    );
    await code;
    return said.error === "" ? (JSON.parse(said.out) as Answer) : said.error;
  }

  const isRight = (answer: Answer | string, { cause, at, next, verdict }: RealCase): boolean => {
    if (typeof answer === "string") return false;
    const [kind, name] = at.split(" ");
    const found = answer.cause;
    const steps = answer.next.map(({ says, command = "" }) => `${says}\n${command}`).join("\n");
    return (
      found.code === cause &&
      found.at.kind === kind &&
      (name === "*" || found.at.name === name) &&
      (verdict === undefined || answer.verdict === verdict) &&
      next.test(steps)
    );
  };

  /** The state comes about within moments: what is asked too early is asked again. */
  async function play(each: RealCase): Promise<Answer | string> {
    await each.make(stage);
    const words = each.explain.startsWith("vsc/of-")
      ? `vsc/${await stage.contentNameOf(each.explain.slice("vsc/of-".length))}`
      : each.explain;
    const deadline = performance.now() + msMax;
    for (;;) {
      const answer = await ask(words, each.asGuest === true);
      if (isRight(answer, each) || performance.now() > deadline) return answer;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  async function playAll(cases: readonly RealCase[]): Promise<readonly (Answer | string)[]> {
    const answers = await Promise.all(cases.map(play));
    wrong = [];
    const objects = (await stage.objects()) as unknown as readonly ClusterObject[];
    for (const [index, each] of cases.entries()) {
      const answer = answers[index];
      asked += 1;
      if (answer === undefined || !isRight(answer, each)) wrong.push(`${each.given}: ${JSON.stringify(answer)}`);
      if (typeof answer === "object") harms.push(...harmIn(answer.next, objects));
    }
    wrongOfAll += wrong.length;
    assert.deepEqual(wrong, []);
    return answers;
  }

  test("beside the Go components it finds the cause of each stuck object, and says who runs", async () => {
    await stage.startGo();
    const from = stage.plane.auditPosition();
    const answers = [...(await playAll(casesWithGo)), ...(await playAll(lastCasesWithGo))];
    await stage.removeWebhook("validation.snapshots.example.com");
    withGo = answers.length;
    const runs = answers.flatMap((answer) => (typeof answer === "string" ? [] : answer.runs));
    for (const [component, program, release] of [
      ["snapshot-controller", "external-snapshotter", "8.6.0"],
      ["csi-snapshotter", "external-snapshotter", "8.6.0"],
    ] as const)
      assert.ok(
        runs.some((run) => run.component === component && run.program === program && run.release === release),
        component,
      );
    const written = stage.plane
      .auditLog(from)
      .filter(({ userAgent, verb }) => userAgent?.startsWith("snapkeep-explain") && !/^(get|list)$/.test(verb));
    assert.deepEqual(written, []);
  });

  test("when the Go components have been killed, it says which is missing", async () => {
    await stage.killGo();
    await playAll(casesAfterGo);
  });

  test("beside our components, with the rights of their manifests, it finds the cause of each stuck object", async () => {
    await stage.startOurs();
    await playAll(casesWithOurs);
  });

  test("an explanation reads by name what has a name, and lists no kind of which a cluster has many", async () => {
    const from = stage.plane.auditPosition();
    await ask("vs/upload", false);
    const listed = stage.plane
      .auditLog(from)
      .filter(({ userAgent, verb }) => userAgent?.startsWith("snapkeep-explain") && verb === "list")
      .map(({ objectRef }) => objectRef?.resource);
    assert.deepEqual(
      listed.filter((resource) => !["leases", "events", "csinodes"].includes(resource ?? "")),
      [],
    );
    assert.ok(listed.includes("leases"), "the audit log has the requests");
  });

  test("at least 25 states were made, 15 of them beside the Go components, and no advice would have harmed", () => {
    assert.ok(asked >= 25 && withGo >= 15, `${asked} states, ${withGo} of them beside the Go components`);
    assert.ok(wrongOfAll <= Math.floor(asked * (3 / 60)), `${wrongOfAll} of ${asked} are wrong`);
    assert.deepEqual(harms, []);
  });
});
