import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim } from "../../test/builders.ts";
import { createFakeKube, type Hook } from "../../test/fake-kube.ts";
import { finalizers } from "../api/names.ts";
import type { PersistentVolumeClaim } from "../api/types.ts";
import { Fault } from "../base/fault.ts";
import { createClaimProtection } from "./claim-protection.ts";

const other = "kubernetes.io/pvc-protection";
const own = finalizers.claimAsSource;
const withFinalizers = (claim: PersistentVolumeClaim, ...names: readonly string[]): PersistentVolumeClaim => ({
  ...claim,
  metadata: { ...claim.metadata, finalizers: names },
});

/** A protected claim on a server whose writes the hook can make fail, and a process that knows nothing of it yet. */
async function setUp({
  hook,
  sizeMax = 10,
  isNeeded = false,
}: {
  hook?: Hook;
  sizeMax?: number;
  isNeeded?: boolean;
} = {}) {
  const kube = createFakeKube(hook);
  const certain: string[] = [];
  const protection = createClaimProtection({
    onCertain: (claim) => certain.push(claim.metadata.name),
    isNeeded: () => isNeeded,
    sizeMax,
  });
  const found = await kube.create("PersistentVolumeClaim", withFinalizers(aClaim(), other, own));
  const api = protection.through(kube);
  const write = (claim: PersistentVolumeClaim, ...names: readonly string[]) =>
    api.replace("PersistentVolumeClaim", withFinalizers(claim, ...names));
  return { protection, found, certain, write };
}

test("an existing finalizer is uncertain until this process has renewed it", async () => {
  const { protection, found, certain, write } = await setUp();
  assert.equal(protection.of(found), "doubtful");
  const renewed = await write(found, own, other);
  assert.equal(protection.of(renewed), "certain");
  assert.deepEqual(certain, ["data"]);
});

test("an existing finalizer is trusted if it is the only one", async () => {
  const { protection, found } = await setUp();
  assert.equal(protection.of(withFinalizers(found, own)), "certain");
});

test("a finalizer is uncertain once its removal is sent, also if it is the only one", async () => {
  let duringRemoval: string | undefined;
  const { protection, found, write } = await setUp({
    hook: ({ verb, body }, when) => {
      const isRemoval = verb === "replace" && !(body as PersistentVolumeClaim).metadata.finalizers?.includes(own);
      if (isRemoval && when === "before") duringRemoval = protection.of(alone);
    },
  });
  const alone = await write(found, own);
  assert.equal(protection.of(alone), "certain");
  await write(alone);
  assert.equal(duringRemoval, "doubtful");
});

test("a removal without a reply leaves the finalizer uncertain, and a removal with a reply does not", async () => {
  const { protection, found, write } = await setUp({
    hook: ({ verb }, when) => {
      if (verb === "replace" && when === "after") throw new Fault("UnknownOutcome", "no answer");
    },
  });
  await assert.rejects(write(found, other));
  assert.equal(protection.of(withFinalizers(found, own)), "doubtful");
  protection.see(found, withFinalizers(found, other));
  assert.equal(protection.of(withFinalizers(found, other)), "none");
  assert.equal(protection.of(withFinalizers(found, own)), "certain", "what was known of it is forgotten");
});

test("deleted claims are forgotten, and the oldest claims when there are too many", async () => {
  const { protection, found, write } = await setUp({ sizeMax: 1 });
  const renewed = await write(found, own, other);
  protection.see(renewed, undefined);
  assert.equal(protection.of(renewed), "doubtful");
});

test("a claim that is needed again is not released, and keeps its protection", async () => {
  let sent = 0;
  const { protection, found, write } = await setUp({
    isNeeded: true,
    hook: ({ verb }, when) => {
      if (verb === "replace" && when === "before") sent += 1;
    },
  });
  const renewed = await write(found, own, other);
  await assert.rejects(write(renewed, other), { code: "Conflict", message: /needed again/ });
  assert.deepEqual([sent, protection.of(renewed)], [1, "certain"]);
});
