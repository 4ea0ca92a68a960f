/**
 * The real API server with the CRDs of phase 3 judges pairs of old and new objects as the webhook does, but for a short list of
 * differences, each with its reason. Old objects are stored by the loose CRDs first, as in a cluster that is tightened. What tools call
 * valid is judged in the same way, with objects that no rule was written for.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type SnapshotKind, snapshotCrds } from "../../src/api/crds/index.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { schemaFindings, unlessSaid } from "../../src/cli/findings/shipped-schemas.ts";
import { contentLabelEdit, snapshotLabelEdit } from "../../src/components/snapshot-controller/plan-label.ts";
import { objectFindings } from "../../src/rules/object-findings.ts";
import { type AdmissionPair, contentSpecs, objectOf, snapshotSpecs } from "../admission-pairs.ts";
import { generatedObjects } from "../generated-objects.ts";
import { webhookVerdict } from "../webhook-verdict.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { until } from "./harness/until.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const pathOf = (kind: AdmissionPair["kind"], version: string): string =>
  `/apis/snapshot.storage.k8s.io/${version}/${kind === "VolumeSnapshot" ? "namespaces/default/volumesnapshots" : "volumesnapshotcontents"}`;

/** Every how many pairs one is sent: enough of each kind, in seconds. */
const kinds = [
  ["VolumeSnapshot", snapshotSpecs, 3],
  ["VolumeSnapshotContent", contentSpecs, 83],
] as const;

interface Stored {
  readonly spec: JsonObject;
  readonly object: JsonObject;
}

let plane: ControlPlane;
const stored = new Map<string, readonly Stored[]>();

async function apply(phase: 1 | 2 | 3): Promise<void> {
  for (const crd of snapshotCrds(phase)) {
    const path = `${definitions}/${crd.metadata.name}`;
    const known = await plane.request("GET", path);
    if (known.status === 404) {
      const { status, text } = await plane.request("POST", definitions, crd);
      assert.equal(status, 201, text);
    } else {
      const { metadata } = JSON.parse(known.text) as { metadata: JsonObject };
      const replaced = { ...crd, metadata: { ...crd.metadata, resourceVersion: metadata.resourceVersion } };
      const { status, text } = await plane.request("PUT", path, replaced);
      assert.equal(status, 200, text);
    }
  }
  const version = phase === 1 ? "v1beta1" : "v1";
  for (const [kind] of kinds)
    await until({ what: `phase ${phase} of ${kind} is served` }, async () =>
      (await plane.request("GET", pathOf(kind, version))).status === 200 ? true : undefined,
    );
  if (phase === 3)
    await until({ what: "the strict rules are in force" }, async () =>
      (
        await plane.request(
          "POST",
          `${pathOf("VolumeSnapshot", "v1")}?dryRun=All`,
          objectOf("VolumeSnapshot", "probe", { source: {} }),
        )
      ).status === 422
        ? true
        : undefined,
    );
}

async function storeLoosely(kind: AdmissionPair["kind"], spec: JsonObject, index: number): Promise<Stored> {
  const draft = { ...objectOf(kind, `o-${index}`, spec), apiVersion: "snapshot.storage.k8s.io/v1beta1" };
  const { status, text } = await plane.request("POST", pathOf(kind, "v1beta1"), draft);
  assert.equal(status, 201, text);
  return { spec, object: JSON.parse(text) as JsonObject };
}

/** Many requests at once, in order of their results. */
async function inTurns<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await work(items[index] as T, index);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return results;
}

const serverRefuses = async (pair: AdmissionPair, old: Stored | undefined): Promise<string | undefined> => {
  const path = pathOf(pair.kind, "v1");
  const { status, text } =
    old === undefined
      ? await plane.request("POST", `${path}?dryRun=All`, pair.after)
      : await plane.request("PUT", `${path}/${(old.object.metadata as JsonObject).name}?dryRun=All`, {
          ...old.object,
          apiVersion: "snapshot.storage.k8s.io/v1",
          spec: pair.after.spec,
        });
  if (status === 200 || status === 201) return undefined;
  assert.equal(status, 422, text);
  return (JSON.parse(text) as { message: string }).message;
};

interface Difference {
  readonly pair: AdmissionPair;
  readonly refusedBy: "webhook" | "server";
  readonly codes: readonly string[];
}

/** Where the two may differ, and why. docs/decisions/0017-ratchet-by-rule.md has the same list. */
const explained: readonly { readonly what: string; holds(difference: Difference): boolean }[] = [
  {
    what: "a source that is nothing but an empty name or handle counts as given for a CRD, and as absent for the webhook",
    holds: ({ refusedBy, pair: { before: old, after: object } }) =>
      refusedBy === "webhook" && [old, object].some((one) => hasEmptySource(one?.spec as JsonObject)),
  },
  {
    what: "an invalid source or reference that is stored may be changed for the webhook, and is immutable for a CRD",
    holds: ({ pair, refusedBy }) =>
      refusedBy === "server" && pair.before !== undefined && isInvalid(pair.kind, pair.before),
  },
];

const gates = { anyVolumeDataSource: true, crossNamespace: true };
const emptyIsAbsent: ReadonlySet<string> = new Set(["SNAP-101", "SNAP-111", "SNAP-113", "SNAP-117"]);
const objectPath = (kind: SnapshotKind): string =>
  kind === "VolumeSnapshotClass" ? "/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses" : pathOf(kind, "v1");

const hasEmptySource = (spec: JsonObject | undefined): boolean =>
  Object.values((spec?.source ?? {}) as JsonObject).includes("");
const isInvalid = (kind: AdmissionPair["kind"], object: JsonObject): boolean =>
  webhookVerdict({ kind, before: undefined, after: object }).length > 0;

describe("CRDs of phase 3", () => {
  before(async () => {
    plane = await startControlPlane({});
    await apply(1);
    for (const [kind, specs] of kinds)
      stored.set(kind, await inTurns(specs, (spec, index) => storeLoosely(kind, spec, index)));
    await apply(2);
    await apply(3);
  });
  after(() => plane?.stop());

  test("the real API server with the CRDs of phase 3 agrees with the webhook on more than 2,000 pairs", async () => {
    const pairs: { readonly pair: AdmissionPair; readonly old: Stored | undefined }[] = [];
    for (const [kind, specs, step] of kinds) {
      const olds = stored.get(kind) ?? [];
      for (const spec of specs)
        pairs.push({ pair: { kind, before: undefined, after: objectOf(kind, "new", spec) }, old: undefined });
      for (let index = 0; index < specs.length ** 2; index += step) {
        const old = olds[Math.floor(index / specs.length)];
        if (old === undefined) continue;
        const name = String((old.object.metadata as JsonObject).name);
        const pair = {
          kind,
          before: objectOf(kind, name, old.object.spec as JsonObject),
          after: objectOf(kind, name, specs[index % specs.length] ?? {}),
        };
        pairs.push({ pair, old });
      }
    }
    const found = new Map<string, number>(explained.map(({ what }) => [what, 0]));
    await inTurns(pairs, async ({ pair, old }) => {
      const server = await serverRefuses(pair, old);
      const codes = webhookVerdict(pair).filter((text) => text.startsWith("error "));
      if ((server !== undefined) === codes.length > 0) return;
      const difference = { pair, refusedBy: server === undefined ? "webhook" : "server", codes } as const;
      const explanation = explained.find(({ holds }) => holds(difference));
      assert.ok(explanation !== undefined, `${JSON.stringify(pair)}: the webhook says ${codes}, the server ${server}`);
      found.set(explanation.what, (found.get(explanation.what) ?? 0) + 1);
    });
    assert.ok(pairs.length > 2_000, `only ${pairs.length}`);
    for (const [what, count] of found) assert.ok(count > 0, `no pair shows any more that ${what}`);
  });

  test("lint refuses what the real API server refuses, on more than 1,500 objects with odd fields, names and values", async () => {
    const objects = [...generatedObjects()];
    assert.ok(objects.length > 1_500, `only ${objects.length}`);
    const seen = { refused: 0, allowed: 0, stricter: 0 };
    await inTurns(objects, async ({ kind, object, what }) => {
      const { status, text } = await plane.request(
        "POST",
        `${objectPath(kind)}?dryRun=All&fieldValidation=Strict`,
        object,
      );
      assert.ok([201, 400, 422].includes(status), `${what}: ${text}`);
      const said = objectFindings(object, undefined, gates);
      const errors = [...said, ...unlessSaid(said, schemaFindings(object, undefined, "manifest"))].filter(
        ({ severity }) => severity === "error",
      );
      if (errors.length > 0 === status >= 400) seen[status >= 400 ? "refused" : "allowed"] += 1;
      else {
        // The one difference: rules call an empty name, handle or driver absent, and a schema cannot.
        const isStricter = status === 201 && errors.every(({ violation: { code } }) => emptyIsAbsent.has(code));
        assert.ok(
          isStricter && JSON.stringify(object).includes('""'),
          `${what}: lint ${JSON.stringify(errors)}, server ${text}`,
        );
        seen.stricter += 1;
      }
    });
    for (const [name, count] of Object.entries(seen)) assert.ok(count > 5, `${name}: ${count}`);
  });

  test("the label for invalid objects is on those that the strict CRDs refuse", async () => {
    const seen = { labelled: 0, unlabelled: 0 };
    for (const [kind] of kinds)
      await inTurns(stored.get(kind) ?? [], async ({ object }) => {
        const edits =
          kind === "VolumeSnapshot" ? snapshotLabelEdit(object as never) : contentLabelEdit(object as never);
        const isLabelled = edits.length > 0;
        const fresh = objectOf(kind, "fresh", object.spec as JsonObject);
        const { status, text } = await plane.request("POST", `${pathOf(kind, "v1")}?dryRun=All`, fresh);
        seen[isLabelled ? "labelled" : "unlabelled"] += 1;
        if (isLabelled === (status === 422)) return;
        assert.ok(isLabelled && status === 201, `${JSON.stringify(object.spec)}: ${text}`);
        assert.ok(hasEmptySource(object.spec as JsonObject), `${JSON.stringify(object.spec)}: ${text}`);
      });
    assert.ok(seen.labelled > 50 && seen.unlabelled > 20, JSON.stringify(seen));
  });
});
