import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aContent } from "../../../test/builders.ts";
import { createFakeKube } from "../../../test/fake-kube.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { createContentCreations } from "./content-creations.ts";

const claim = aClaim();

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
  const kube = createFakeKube(({ verb }, when) => {
    if (verb !== "create" || when === "after") return;
    during.push(creations.isUnderWay(claim));
    answer();
  });
  const api = creations.through(kube);
  return {
    kube,
    during,
    creations,
    ends: () => ends,
    create: () => api.create("VolumeSnapshotContent", aContent()),
    release: () => {
      isProtected = false;
    },
  };
}

test("the claim is held from the moment the creation is sent until it is answered", async () => {
  const { create, during, ends, creations } = setUp();
  await create();
  assert.deepEqual([during, creations.isUnderWay(claim), ends()], [[true], false, 1]);
});

test("nothing is created for a claim that was released since the plan was made", async () => {
  const { create, release, kube } = setUp();
  release();
  await assert.rejects(create(), { code: "Conflict" });
  assert.deepEqual(kube.stored("VolumeSnapshotContent"), []);
});

for (const code of ["AlreadyExists", "Lost"] as const satisfies readonly FaultCode[])
  test(`after ${code} the claim is no longer held, and looked at again`, async () => {
    const { create, creations, ends } = setUp(() => {
      throw new Fault(code, "no");
    });
    await assert.rejects(create(), { code });
    assert.deepEqual([creations.isUnderWay(claim), ends()], [false, 1]);
  });
