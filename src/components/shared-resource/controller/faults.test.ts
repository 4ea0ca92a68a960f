/** Shares, Secrets and the conditions of others come and go, while requests fail, are lost, or succeed without a reply. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  condition,
  group,
  relistMs,
  secrets,
  startShareController,
  writesIn,
} from "../../../../test/share-controller.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import type { HttpResponse } from "../../../base/http.ts";
import { planShare } from "./plan.ts";

const failure = (code: number, reason: string): HttpResponse => ({
  status: code,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ kind: "Status", status: "Failure", reason, code, message: "injected" }),
});

const names = ["a", "b", "c"];

const seeds = Array.from({ length: 20 }, (_, index) => index + 1);

for (const seed of seeds)
  test(`R7, R35, R74: seed ${seed}: after the last fault every share shows what is true, and Ready is as its owner wrote it`, () =>
    live(seed));

test("the same seeds find a controller that takes a condition for written before the request has succeeded", async () => {
  const tooEarly: typeof planShare = (view) => {
    const { actions, ...rest } = planShare(view);
    const { written = [], others = [] } = Object.groupBy(actions, ({ kind }) => (kind === "written" ? kind : "others"));
    return { actions: [...written, ...others], ...rest };
  };
  const outcomes = await Promise.allSettled(seeds.map((seed) => live(seed, tooEarly)));
  assert.ok(
    outcomes.some((outcome) => outcome.status === "rejected" && outcome.reason instanceof assert.AssertionError),
  );
});

async function live(seed: number, plan = planShare): Promise<void> {
  const { random } = createVirtualWorld(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  let isFaulty = true;
  const stage = await startShareController({
    plan,
    fault: async ({ path }, send) => {
      if (!isFaulty || path.includes("watch=") || random() > 0.5) return send();
      const kind = pick(["lost", "unanswered", "conflict", "busy"] as const);
      if (kind === "unanswered") await send();
      if (kind === "conflict") return failure(409, "Conflict");
      return kind === "busy" ? failure(429, "TooManyRequests") : failure(503, "ServiceUnavailable");
    },
  });
  const { world, ask, create, createSecret, share, setStatus, requests, end } = stage;
  const ready = new Map<string, string>();
  const steps: readonly ((name: string) => Promise<unknown>)[] = [
    (name) => create("secret", name, pick(names)),
    (name) => createSecret(name),
    (name) => create("secret", name, pick(names)),
    (name) => createSecret(name),
    (name) => world.run(ask("DELETE", `${secrets}/${name}`)),
    async (name) => {
      ready.delete(name);
      await world.run(ask("DELETE", `${group}/sharedsecrets/${name}`));
    },
    (name) =>
      world.run(
        ask(
          "PATCH",
          `${group}/sharedsecrets/${name}`,
          { spec: { secretRef: { name: pick(names) } } },
          { type: "merge" },
        ),
      ),
    async () => world.jump((random() - 0.5) * 4 * 3_600_000),
    async (name) => {
      const status = pick(["True", "False", "Unknown"]);
      const others = ((await share(name)).status?.conditions ?? []).filter(({ type }) => type !== "Ready");
      const { status: code } = await setStatus(name, [condition("Ready", status), ...others]);
      if (code === 200) ready.set(name, status);
    },
  ];
  for (let step = 0; step < 40; step++) {
    await pick(steps)(pick(names));
    await world.advance(Math.floor(random() * 5_000));
  }
  isFaulty = false;
  const check = async (seesDeletions: boolean): Promise<void> => {
    for (const name of names) {
      const { spec, status } = (await share(name)) as Awaited<ReturnType<typeof share>> & {
        readonly spec?: { readonly secretRef: { readonly name: string } };
      };
      if (spec === undefined) continue;
      const exists = (await world.run(ask("GET", `${secrets}/${spec.secretRef.name}`))).status === 200;
      const of = (type: string) => status?.conditions?.find((entry) => entry.type === type)?.status;
      if (exists || seesDeletions) assert.equal(of("Available"), exists ? "True" : "False", name);
      assert.equal(of("Ready"), ready.get(name), name);
    }
  };
  // A missing Secret is looked for every 30 s; one that is there, only once per relist interval.
  await world.advance(150_000);
  await check(false);
  await world.advance(2 * relistMs);
  await check(true);
  for (const { path, body } of writesIn(requests)) {
    assert.match(path, /\/status(\?|$)/);
    assert.doesNotMatch(body, /Ready/);
  }
  await end();
}
