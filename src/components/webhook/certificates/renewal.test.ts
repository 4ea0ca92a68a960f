/** Renewals on the embedded API server: in which order things are written, and that an interruption or another writer spoils nothing. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import {
  claims,
  dayMs,
  options,
  place,
  secret,
  setUp,
  snapshots,
  trusts,
} from "../../../../test/certificate-renewal.ts";
import { claimConfiguration } from "../../../api/manifests/webhook-configurations.ts";
import { isFault } from "../../../base/fault.ts";
import { createRenewal } from "./renewal.ts";

test("the first certificate is written after both configurations trust its authority, without waiting", async () => {
  const { writes, bundles, entries, finish } = await setUp();
  assert.deepEqual(await finish(), ["introduce", "trust", "serve", "good"]);
  assert.deepEqual(writes, ["POST secrets", `PATCH ${snapshots.name}`, `PATCH ${claims.name}`, `PATCH ${secret.name}`]);
  const stored = await entries();
  for (const bundle of await bundles()) assert.ok(trusts(bundle, stored["tls.crt"] ?? ""));
  assert.deepEqual(Object.keys(stored).sort(), ["ca.crt", "ca.key", "cert.pem", "key.pem", "tls.crt", "tls.key"]);
});

test("a new authority is stored, then trusted, then waited for, and then signs", async () => {
  const { writes, bundles, entries, finish, start } = await setUp();
  await finish();
  const before = await entries();
  writes.length = 0;
  assert.deepEqual(await finish(start(true)), ["introduce", "trust", "wait", "serve", "good"]);
  assert.deepEqual(writes, [
    `PATCH ${secret.name}`,
    `PATCH ${snapshots.name}`,
    `PATCH ${claims.name}`,
    `PATCH ${secret.name}`,
  ]);
  const after = await entries();
  assert.notEqual(after["ca.crt"], before["ca.crt"]);
  assert.equal(after["ca-previous.crt"], before["ca.crt"]);
  assert.equal(after["ca-next.crt"], undefined);
  for (const bundle of await bundles()) assert.equal(bundle, `${after["ca.crt"]}${before["ca.crt"]}`);
});

test("while a new authority is waited for, the served certificate stays", async () => {
  const { api, world, entries, signal, finish, start } = await setUp();
  await finish();
  const { "tls.crt": served } = await entries();
  const renewal = start(true);
  for (const kind of ["introduce", "trust", "wait"]) assert.equal((await renewal.advance(signal)).kind, kind);
  await world.advance(options.settleTime - 1);
  assert.deepEqual(await renewal.advance(signal), { kind: "wait", ms: 1 });
  assert.equal((await entries())["tls.crt"], served);
  // A configuration that is applied meanwhile begins without the authority, and everybody waits again.
  await api.delete(claims);
  await api.create(claims.kind, claimConfiguration(place) as never);
  await world.advance(1);
  assert.equal((await renewal.advance(signal)).kind, "trust");
  assert.deepEqual(await renewal.advance(signal), { kind: "wait", ms: options.settleTime });
});

test("an expiring serving certificate is renewed by the same authority, and no configuration changes", async () => {
  const { world, writes, entries, finish } = await setUp();
  await finish();
  const before = await entries();
  writes.length = 0;
  await world.jump(336 * dayMs);
  assert.deepEqual(await finish(), ["serve", "good"]);
  assert.deepEqual(writes, [`PATCH ${secret.name}`]);
  const after = await entries();
  assert.equal(after["ca.crt"], before["ca.crt"]);
  assert.notEqual(after["tls.crt"], before["tls.crt"]);
});

test("an authority that has expired is removed from Secret and configurations", async () => {
  const { world, bundles, entries, finish, start } = await setUp();
  await finish(start(false, { authorityValidity: 400 * dayMs }));
  await finish(start(true));
  assert.notEqual((await entries())["ca-previous.crt"], undefined);
  // The old one ends a month after it is due.
  await world.jump(401 * dayMs);
  await finish();
  const stored = await entries();
  assert.equal(stored["ca-previous.crt"], undefined);
  for (const bundle of await bundles()) assert.equal(bundle, stored["ca.crt"]);
});

test("a renewal that is interrupted after any step is finished by the next process", async () => {
  for (const steps of [1, 2, 3]) {
    const { entries, signal, finish, start } = await setUp();
    await finish();
    const before = await entries();
    const interrupted = start(true);
    for (let step = 0; step < steps; step++) await interrupted.advance(signal);
    assert.ok((await finish(start(false))).includes("serve"));
    const after = await entries();
    assert.notEqual(after["ca.crt"], before["ca.crt"]);
    assert.equal(after["ca-next.crt"], undefined);
  }
});

test("a Secret that somebody else writes meanwhile is not overwritten", async () => {
  const { api, world, entries, signal, finish, start } = await setUp();
  await finish();
  const renewal = start(true);
  for (const _ of ["introduce", "trust", "wait"]) await renewal.advance(signal);
  await world.advance(options.settleTime);
  // Between reading and writing: the first request of the step is the one that reads the Secret.
  const foreign = { "tls.crt": Buffer.from("theirs").toString("base64") };
  const racing = createRenewal({
    api: {
      ...api,
      get: async (ref, query) => {
        const found = await api.get(ref, query);
        if (ref.kind === "Secret") await api.patch(secret, { type: "merge", body: { data: foreign } });
        return found;
      },
    },
    world,
    options: { ...options, settleTime: 0 },
    say: () => undefined,
  });
  await assert.rejects(racing.advance(signal), (reason) => isFault(reason, "Conflict"));
  assert.equal((await entries())["tls.crt"], "theirs");
});

test("a configuration that somebody else writes meanwhile is not overwritten", async () => {
  const { api, world, bundles, signal } = await setUp();
  const racing = createRenewal({
    api: {
      ...api,
      get: async (ref, query) => {
        const found = await api.get(ref, query);
        if (ref.kind === snapshots.kind && ref.name === snapshots.name)
          await api.patch(snapshots, {
            type: "merge",
            body: { metadata: { labels: { at: String(world.elapsed()) } } },
          });
        await world.advance(1);
        return found;
      },
    },
    world,
    options,
    say: () => undefined,
  });
  await racing.advance(signal);
  await assert.rejects(racing.advance(signal), (reason) => isFault(reason, "Conflict"));
  assert.deepEqual(await bundles(), ["", ""]);
});

/** Small and repeatable: which of the two processes goes on, or what else happens. */
const diceFrom = (seed: number) => {
  let state = seed;
  return (sides: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
};

for (let seed = 1; seed <= 20; seed++)
  test(`two processes that renew at once never serve what a configuration does not trust, seed ${seed}`, async () => {
    const { api, world, signal, start, bundles, entries, finish } = await setUp();
    await finish();
    const roll = diceFrom(seed);
    let processes = [start(true), start(true)];
    /** Certificates that a pod may still serve: not those that expired. */
    const served = new Map<string, number>();
    for (let turn = 0; turn < 60; turn++) {
      const happens = roll(12);
      if (happens === 0) processes = [start(roll(3) === 0), start()];
      else if (happens === 1) await world.advance(roll(20) * 1_000);
      else if (happens === 2 && roll(3) === 0) await api.delete(secret).catch(() => undefined);
      else if (happens === 3 && roll(3) === 0) await world.jump(roll(400) * dayMs);
      else
        await processes[roll(2)]?.advance(signal).catch((reason: unknown) => {
          assert.ok(isFault(reason, "Conflict") || isFault(reason, "AlreadyExists"), String(reason));
        });
      const stored = await entries().catch(() => ({}) as Record<string, string>);
      const { "tls.crt": current = "" } = stored;
      if (current !== "") served.set(current, Date.parse(new X509Certificate(current).validTo));
      for (const [certificate, endsMs] of served)
        if (endsMs > world.now())
          for (const bundle of await bundles()) assert.ok(trusts(bundle, certificate), `turn ${turn}`);
    }
    await finish();
    const { "tls.crt": last = "" } = await entries();
    for (const bundle of await bundles()) assert.ok(trusts(bundle, last));
  });
