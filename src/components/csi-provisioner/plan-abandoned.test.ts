/** Volumes that may exist though no claim wants them any more. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aCreateCall,
  anIntent,
  aPendingClaim,
  aVolumeView,
  created,
  refusal,
  testVolumePlans,
  unsent,
} from "../../../test/volume-plans.ts";
import { planVolume } from "./plan.ts";

const intent = anIntent();
const secret = { name: "key", namespace: "vault" };
const withSecret = anIntent({ call: aCreateCall({ secret }) });
const leaving = aPendingClaim({ metadata: { deletionTimestamp: "2026-01-01T01:00:00Z" } });
const gone = { claim: undefined, intent };
testVolumePlans([
  {
    given: "an intent whose claim is gone",
    view: aVolumeView(gone),
    phase: "abandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "an intent whose claim is being deleted",
    view: aVolumeView({ claim: leaving, intent }),
    phase: "abandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "an intent whose claim has another volume",
    view: aVolumeView({ claim: aPendingClaim({ spec: { volumeName: "pv-1" } }), intent }),
    phase: "abandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a call that was stored for a claim that is gone, and never sent",
    view: aVolumeView(gone, { isUncertain: false }),
    phase: "abandoned",
    expect: ["forgetIntent"],
  },
  {
    given: "a call for a claim that is gone, which was denied before it was sent",
    view: aVolumeView(gone, { isUncertain: false, reply: { kind: "denied" } }),
    phase: "abandoned",
    expect: ["forgetIntent"],
  },
  {
    given: "a volume that was created for a claim that is gone",
    view: aVolumeView(gone, { reply: created }),
    phase: "abandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "an abandoned volume that another PersistentVolume has",
    view: aVolumeView({ ...gone, holder: "pv-1" }, { reply: created }),
    phase: "abandoned",
    expect: ["forgetIntent"],
  },
  {
    given: "an abandoned volume that is deleted",
    view: aVolumeView(gone, { reply: { kind: "deleted" } }),
    phase: "abandoned",
    expect: ["forgetIntent"],
  },
  {
    given: "an abandoned volume that cannot be deleted",
    view: aVolumeView(gone, { reply: refusal("Internal"), isUndoing: true }),
    phase: "abandoned",
    expect: ["pause"],
  },
  {
    given: "a refusal of the only attempt",
    view: aVolumeView(gone, { reply: refusal("InvalidArgument"), isUncertain: false }),
    phase: "abandoned",
    expect: ["forgetIntent"],
  },
  {
    given: "a refusal after an attempt of unknown outcome, and no claim",
    view: aVolumeView(gone, { reply: refusal("InvalidArgument") }),
    phase: "abandoned",
    expect: [],
  },
  {
    given: "an attempt of unknown outcome, and no claim",
    view: aVolumeView(gone, { reply: refusal("DeadlineExceeded") }),
    phase: "abandoned",
    expect: [],
  },
  {
    given: "a secret that went with the claim's namespace",
    view: aVolumeView(
      { claim: undefined, intent: withSecret },
      { reply: unsent("NotFound"), repliedTo: withSecret.call },
    ),
    phase: "abandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a volume whose id was learned without the secret",
    view: aVolumeView({ claim: undefined, intent: withSecret }, { reply: created, repliedTo: aCreateCall() }),
    phase: "abandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "a volume whose id was learned with the secret",
    view: aVolumeView({ claim: undefined, intent: withSecret }, { reply: created, repliedTo: withSecret.call }),
    phase: "abandoned",
    expect: ["confirm, requireIntent, delete with key"],
  },
  {
    given: "a secret that cannot be read at the moment, and no claim",
    view: aVolumeView(
      { claim: undefined, intent: withSecret },
      { reply: unsent("Unavailable"), repliedTo: withSecret.call },
    ),
    phase: "abandoned",
    expect: [],
  },
]);

test("an id is learned without the secret that is gone, but the intent keeps its name", () => {
  const view = aVolumeView(
    { claim: undefined, intent: withSecret },
    { reply: unsent("NotFound"), repliedTo: withSecret.call },
  );
  const [action] = planVolume(view).actions;
  assert.ok(action?.kind === "csi");
  assert.deepEqual(action.intent, [{ kind: "logIntent", name: "pvc-u-new", intent: withSecret }]);
});
