/** A migration that begins while an installation is under way: what was judged a moment ago does not hold any more. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startHarness } from "../../../test/command-harness.ts";
import { crdsIn } from "../../../test/install-crds.ts";
import type { CrdDraft } from "../../api/crds/index.ts";
import type { Draft } from "../../api/types.ts";
import { recordAnnotation } from "../migrate/definition.ts";

const begun = { goal: 2, back: true, step: "begun", run: "r", startedAt: "2026-01-01T00:00:00Z", serveV1beta1: false };
const isCrd = (path: string): boolean => path.includes("/customresourcedefinitions/volumesnapshot");

/** `meanwhile` happens right before the installation's first write of a definition. */
async function installed(
  t: TestContext,
  definitions: readonly CrdDraft[],
  meanwhile: (client: Awaited<ReturnType<typeof startHarness>>["client"]) => Promise<unknown>,
) {
  let hasHappened = false;
  const harness = await startHarness(t, {
    definitions,
    beforeRequest: async ({ method, path }) => {
      if (hasHappened || method !== "PATCH" || !isCrd(path)) return;
      hasHappened = true;
      await meanwhile(harness.client);
    },
  });
  const stored = async () =>
    (await harness.client.list("CustomResourceDefinition")).objects.map(({ metadata, spec }) => ({
      name: metadata.name,
      annotations: metadata.annotations,
      versions: spec?.versions?.map(({ name }) => name),
    }));
  const { code, said } = harness.start("install", "--apply", "--timeout=1s");
  return { code: await code, text: said(), stored: await stored() };
}

test("a rollback that begins after the definitions were judged is not overwritten", async (t) => {
  const { code, text, stored } = await installed(t, crdsIn(3), async (client) => {
    for (const { metadata } of crdsIn(3))
      await client.patch(
        { kind: "CustomResourceDefinition", name: String(metadata.name) },
        { type: "merge", body: { metadata: { annotations: { [recordAnnotation]: JSON.stringify(begun) } } } },
      );
  });
  assert.equal(code, 1, text);
  assert.match(
    text,
    /a rollback to phase 2 has not ended.*nothing but CustomResourceDefinitions was changed; run snapkeep migrate --rollback --to-phase=2 first.*SNAP-806/,
  );
  assert.doesNotMatch(text, /objects applied/);
  for (const { annotations } of stored) assert.equal(annotations?.[recordAnnotation], JSON.stringify(begun));
});

test("definitions that a migration creates after none was found are not overwritten", async (t) => {
  const { code, text, stored } = await installed(t, [], async (client) => {
    for (const crd of crdsIn(1)) await client.create("CustomResourceDefinition", crd as unknown as Draft);
  });
  assert.equal(code, 1, text);
  assert.match(text, /it is in phase 1.*run snapkeep migrate --to-phase=3 first.*SNAP-806/);
  assert.deepEqual(
    stored.map(({ versions }) => versions),
    stored.map(() => ["v1beta1"]),
  );
});

test("a definition that somebody touches meanwhile is judged again, and applied", async (t) => {
  const { text, stored } = await installed(t, crdsIn(3), async (client) => {
    for (const { metadata } of crdsIn(3))
      await client.patch(
        { kind: "CustomResourceDefinition", name: String(metadata.name) },
        { type: "merge", body: { metadata: { annotations: { touched: "yes" } } } },
      );
  });
  assert.match(text, /objects applied/);
  for (const { annotations } of stored) assert.equal(annotations?.touched, "yes");
});
