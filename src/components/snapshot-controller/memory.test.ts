import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { aClaim } from "../../../test/builders.ts";
import { finalizers } from "../../api/names.ts";
import { createStores } from "../../kube/stores.ts";
import { createMemory } from "./memory.ts";
import { storeTable } from "./triggers.ts";

const guarded = aClaim({ metadata: { finalizers: [finalizers.claimAsSource] } });

test("reading the memory of a claim does not start its idle time, and noting the claim does", () => {
  let nowMs = 0;
  const memory = createMemory({
    stores: createStores(storeTable),
    options: {},
    world: { elapsed: () => nowMs },
    wereClaimsReadFor: () => false,
    onProtected: () => undefined,
    isNeeded: () => false,
    onCreationEnd: () => undefined,
  });
  const idleMs = (): number => memory.ofClaim({ claim: guarded, snapshots: [] }).idleMs;
  idleMs();
  nowMs = 500;
  assert.equal(idleMs(), 0);
  memory.noteClaim(guarded, () => false);
  nowMs = 700;
  assert.deepEqual([idleMs(), idleMs()], [200, 200]);
});

test("the table of memories has every memory, with what it holds, its bound, its loss and why the loss is safe", () => {
  const text = readFileSync(new URL("memory.ts", import.meta.url), "utf8");
  const created = [
    ...text.matchAll(/import \{[^}]*\bcreate\w+[^}]*\} from "(?:\.|\.\.\/\.\.\/runtime)\/([\w-]+\.ts)";/g),
  ].map(([, file]) => file);
  const rows = [...text.matchAll(/^ \* ([\w-]+\.ts) +holds .*\n \* +bound .*\n \* +lost .*\n \* +safe /gm)];
  assert.deepEqual(rows.map(([, file]) => file).sort(), created.sort());
  assert.equal(rows.length, 7);
});
