/** Wrong labels, wrong verdicts of the webhook, and invalid objects that cannot be deleted. */
import { labels, oldInvalidLabels } from "../../../src/api/names.ts";
import { edit } from "../../../src/api/patches.ts";
import { settled } from "../../../src/api/plan.ts";
import type { VolumeSnapshot } from "../../../src/api/types.ts";
import { isObject, type JsonObject } from "../../../src/base/json.ts";
import type { SnapshotView } from "../../../src/components/snapshot-controller/observe.ts";
import { decideReview } from "../../../src/components/webhook/judges.ts";
import { kindRules } from "../../../src/rules/kind-rules.ts";
import { contentSourceOf } from "../../../src/rules/snapshot-source.ts";
import { driver } from "../backend.ts";
import { type Bug, inSidecar, inSnapshot, patches, withContent } from "./bug.ts";

const isInvalid = (snapshot: VolumeSnapshot): boolean =>
  kindRules.VolumeSnapshot.strict(snapshot as unknown as JsonObject).length > 0;

/** The same view of a snapshot with other labels. Undefined takes one away. */
function withLabels(view: SnapshotView, changes: Readonly<Record<string, string | undefined>>): SnapshotView {
  const { snapshot } = view.facts;
  const changed = Object.entries({ ...snapshot.metadata.labels, ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  const metadata = { ...snapshot.metadata, labels: Object.fromEntries(changed) as Record<string, string> };
  return { ...view, facts: { ...view.facts, snapshot: { ...snapshot, metadata } } };
}

/** Changes the patches that write the label. */
const inLabelPatch = (change: (body: JsonObject & { metadata: JsonObject }, view: SnapshotView) => JsonObject) =>
  inSnapshot({
    plan: (plan, view) =>
      patches(plan, "metadata", (body) => (isObject(body.metadata.labels) ? change(body, view) : body)),
  });

export const invalidBugs: readonly Bug[] = [
  {
    name: "never removes the label of a corrected object",
    source: "I-28",
    scenario: "invalid-corrected-and-kept",
    breaks: ["I-28"],
    seedsMax: 3,
    sabotage: () =>
      inSnapshot({
        view: (view) =>
          isInvalid(view.facts.snapshot) ? view : withLabels(view, { [labels.invalidSnapshot]: undefined }),
      }),
  },
  {
    name: "labels an object only when it sees it for the first time",
    source: "I-28; the source edited after binding",
    scenario: "spoiled-and-kept",
    breaks: ["I-28"],
    seedsMax: 5,
    sabotage: () => {
      const seenValid = new Set<string>();
      return inSnapshot({
        view: (view) => {
          const { snapshot } = view.facts;
          if (!isInvalid(snapshot)) seenValid.add(snapshot.metadata.uid);
          return isInvalid(snapshot) && seenValid.has(snapshot.metadata.uid)
            ? withLabels(view, { [labels.invalidSnapshot]: "" })
            : view;
        },
      });
    },
  },
  {
    name: "labels valid objects",
    source: "I-28",
    scenario: "dynamic-create",
    breaks: ["I-28"],
    seedsMax: 3,
    sabotage: () =>
      inSnapshot({
        view: (view) => withLabels(view, { [labels.invalidSnapshot]: undefined }),
        plan: (plan, { facts: { snapshot } }) => {
          const label = edit("VolumeSnapshot", snapshot, { labels: { [labels.invalidSnapshot]: "" } });
          return label.length === 0 ? plan : { ...plan, actions: label };
        },
      }),
  },
  {
    name: "leaves the labels of the old prefix",
    source: "KEP-1900 spells the label with two prefixes",
    scenario: "invalid-labels-edited",
    breaks: ["I-28"],
    seedsMax: 3,
    sabotage: () =>
      inSnapshot({
        view: (view) => withLabels(view, Object.fromEntries(oldInvalidLabels.map((name) => [name, undefined]))),
      }),
  },
  {
    name: "replaces the whole label map from its cache",
    source: "A4-1; I-38",
    scenario: "invalid-labels-edited",
    breaks: ["I-38", "I-37", "I-28"],
    seedsMax: 60,
    sabotage: () =>
      inSnapshot({
        plan: (plan, { facts: { snapshot } }) => ({
          ...plan,
          actions: plan.actions.map((action) => {
            if (action.kind !== "patch" || action.patch.type !== "merge") return action;
            const { metadata } = action.patch.body as { metadata?: { labels?: JsonObject } };
            if (metadata?.labels === undefined) return action;
            const value = Object.fromEntries(
              Object.entries({ ...snapshot.metadata.labels, ...metadata.labels }).filter(([, item]) => item !== null),
            );
            const at = { op: "test", path: "/metadata/uid", value: snapshot.metadata.uid } as const;
            return {
              ...action,
              patch: { type: "json", body: [at, { op: "add", path: "/metadata/labels", value }] },
            } as const;
          }),
        }),
      }),
  },
  {
    name: "writes the label together with a finalizer",
    source: "I-28; nothing else changes",
    scenario: "invalid-mended",
    breaks: ["I-28"],
    seedsMax: 3,
    sabotage: () =>
      inLabelPatch((body, { facts: { snapshot } }) => ({
        ...body,
        metadata: {
          ...body.metadata,
          finalizers: [...(snapshot.metadata.finalizers ?? []), "snapshot.storage.kubernetes.io/invalid"],
        },
      })),
  },
  {
    name: "corrects an empty class name unasked",
    source: "I-12",
    scenario: "invalid-deleted",
    breaks: ["I-12"],
    seedsMax: 5,
    sabotage: () =>
      inLabelPatch((body, { facts: { snapshot } }) =>
        snapshot.spec.volumeSnapshotClassName === "" ? { ...body, spec: { volumeSnapshotClassName: "delete" } } : body,
      ),
  },
  {
    name: "never releases a content with two sources",
    source: "found by this simulation",
    scenario: "spoiled-content",
    breaks: ["I-26", "I-15"],
    seedsMax: 10,
    sabotage: () =>
      inSidecar({
        plan: (plan, { facts: { content } }) =>
          contentSourceOf(content).kind === "unclear" ? { ...plan, actions: [], next: settled } : plan,
      }),
  },
  {
    name: "binds a content that has no driver",
    source: "found by this simulation",
    scenario: "content-without-driver",
    breaks: ["I-10"],
    seedsMax: 5,
    sabotage: () => inSnapshot({ view: (view) => ({ ...view, facts: withContent(view.facts, { spec: { driver } }) }) }),
  },
  {
    name: "refuses a change of metadata of an invalid object",
    source: "I-25; the snapshot-validation webhook of 4.1, openyurt#2640",
    scenario: "webhook-ignore",
    breaks: ["I-25"],
    seedsMax: 3,
    // With the match conditions that ship the webhook is not asked, so that this mistake has no effect.
    sabotage: () => ({
      isAskedAlways: true,
      decide: (request, around) => decideReview({ ...request, oldObject: undefined }, around),
    }),
  },
  {
    name: "judges the old object of an update",
    source: "A4-5",
    scenario: "webhook-fail",
    breaks: ["I-25"],
    seedsMax: 3,
    sabotage: () => ({
      decide: (request, around) => decideReview({ ...request, object: request.oldObject ?? request.object }, around),
    }),
  },
  {
    name: "judges only creations",
    source: "I-25; a rule without UPDATE in the webhook's configuration",
    scenario: "webhook-fail",
    breaks: ["I-25"],
    seedsMax: 3,
    sabotage: () => ({
      decide: (request, around) => (request.oldObject === undefined ? decideReview(request, around) : {}),
    }),
  },
];
