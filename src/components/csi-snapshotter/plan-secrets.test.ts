/** Deletion-secret annotations that differ from the class: reported and counted once. They block nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent } from "../../../test/builders.ts";
import { aYoungView as aView, failure, ready, terminating, testPlans } from "../../../test/content-plans.ts";
import { annotations, parameters } from "../../api/names.ts";
import { planContent } from "./plan.ts";

const ofSnapshot = {
  [parameters.snapshotterSecretName]: `of-\${volumesnapshot.name}`,
  [parameters.snapshotterSecretNamespace]: `\${volumesnapshot.namespace}`,
};
const snapshotClass = aClass({ parameters: ofSnapshot });
const noting = (namespace: string, name: string, spec = {}) =>
  aContent({
    metadata: {
      ...terminating,
      annotations: {
        ...terminating.annotations,
        [annotations.deletionSecretName]: name,
        [annotations.deletionSecretNamespace]: namespace,
      },
    },
    status: ready,
    spec,
  });
const strange = noting("kube-system", "admin");
const without = aContent({ metadata: terminating, status: ready });
const reported = ["confirm, delete", "event DeletionSecretMismatch", "count"];

testPlans([
  {
    given: "a deletion with the secret that the class names",
    view: aView({ content: noting("team", "of-monday"), snapshotClass }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion with a secret that the class does not name",
    view: aView({ content: strange, snapshotClass }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: reported,
  },
  {
    given: "a deletion with a secret, while the class names none",
    view: aView({ content: strange, snapshotClass: aClass() }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: reported,
  },
  {
    given: "a deletion without a secret, while the class names one",
    view: aView({ content: without, snapshotClass }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: reported,
  },
  {
    given: "a deletion with a secret that the class does not name, tried before",
    view: aView({ content: strange, snapshotClass, isFirstAttempt: false }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion with a secret, when the class is gone",
    view: aView({ content: strange, snapshotClass: undefined }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion with a secret, while the class's template is wrong",
    view: aView({
      content: strange,
      snapshotClass: aClass({ parameters: { ...ofSnapshot, [parameters.snapshotterSecretName]: "" } }),
    }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion with a secret of a pre-provisioned content, which its author annotated",
    view: aView({ content: noting("vault", "key", { source: { snapshotHandle: "s-1" } }), snapshotClass }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a refused deletion with a secret that the class does not name",
    view: aView({ content: strange, snapshotClass, reply: failure("FailedPrecondition") }),
    phase: "removable",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
]);

test("the mismatch event names both secrets, content and class, and the call uses the annotated secret", () => {
  const [call, event] = planContent(aView({ content: strange, snapshotClass })).actions;
  assert.deepEqual(call?.kind === "csi" && call.call.secret, { namespace: "kube-system", name: "admin" });
  assert.match(
    event?.kind === "event" ? event.event.message : "",
    /content snapcontent-uid-snap name secret kube-system\/admin, class fast names secret team\/of-monday: .* deleted with secret kube-system\/admin/,
  );
});
