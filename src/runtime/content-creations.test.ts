import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aContent } from "../../test/builders.ts";
import { Fault, type FaultCode } from "../base/fault.ts";
import { createContentCreations } from "./content-creations.ts";

const claim = aClaim();
const { signal } = new AbortController();
const action = {
  kind: "create",
  ref: { kind: "VolumeSnapshotContent", name: "snapcontent-1" },
  object: aContent(),
} as const;

function setUp(answer: () => void = () => undefined) {
  let isProtected = true;
  let ends = 0;
  const during: boolean[] = [];
  const creations = createContentCreations({
    protectedClaimOf: () => (isProtected ? claim : undefined),
    onEnd: () => {
      ends += 1;
    },
  });
  const create = creations.around(async () => {
    during.push(creations.isUnderWay(claim));
    answer();
  });
  return {
    during,
    creations,
    ends: () => ends,
    create: () => create(action, signal),
    release: () => {
      isProtected = false;
    },
  };
}

test("the claim stays protected from sending the content's creation until its reply is in the cache", async () => {
  const { create, during, ends, creations } = setUp();
  await create();
  assert.deepEqual([during, creations.isUnderWay(claim), ends()], [[true], false, 1]);
});

test("no content is created for a claim that was released after the plan was made", async () => {
  const { create, release, during } = setUp();
  release();
  await assert.rejects(create(), { code: "Conflict" });
  assert.deepEqual(during, []);
});

for (const code of ["AlreadyExists", "UnknownOutcome"] as const satisfies readonly FaultCode[])
  test(`after ${code} the claim can be released and is reconciled again`, async () => {
    const { create, creations, ends } = setUp(() => {
      throw new Fault(code, "no");
    });
    await assert.rejects(create(), { code });
    assert.deepEqual([creations.isUnderWay(claim), ends()], [false, 1]);
  });
