/** How far an object of a round has come. Pure. */
import type { ObjectOf } from "../../api/types.ts";
import type { JsonObject } from "../../base/json.ts";
import { fix, withCode } from "../../errors/codes.ts";
import { reasonOfPod } from "../install/pods.ts";
import type { Look } from "../waiting.ts";

const done = (detail: string): Look => ({ kind: "done", detail });
const waiting = (what: string): Look => ({ kind: "waiting", for: what });
const ended = (kind: "blocked" | "failed", text: string, code: "SNAP-857" | "SNAP-858" | "SNAP-859"): Look => ({
  kind,
  why: withCode(`${text}; ${fix(code)}`, code),
});

export function lookAtClaim({ metadata, spec, status }: ObjectOf<"PersistentVolumeClaim">): Look {
  if (status?.phase === "Bound") return done(`volume ${spec?.volumeName}`);
  return waiting(`claim ${metadata.name} is ${status?.phase ?? "Pending"}`);
}

export function lookAtSnapshot({ metadata, status }: ObjectOf<"VolumeSnapshot">): Look {
  if (status?.readyToUse === true) return done(`content ${status.boundVolumeSnapshotContentName}`);
  const { message } = status?.error ?? {};
  return waiting(`snapshot ${metadata.name} is not ready${message === undefined ? "" : `: ${message}`}`);
}

/** Reasons of the kubelet after which it tries again, and will not succeed. */
const unpulled = /\b(ImagePullBackOff|ErrImageNeverPull|InvalidImageName)\b/;

export function lookAtPod(pod: ObjectOf<"Pod">, events: readonly ObjectOf<"Event">[], expected: string): Look {
  const { name } = pod.metadata;
  const { phase, containerStatuses = [] } = pod.status ?? {};
  const said = (containerStatuses[0]?.state?.terminated?.message ?? "").trim();
  if (phase === "Failed") return ended("failed", `pod ${name} has failed: ${said || "it said nothing"}`, "SNAP-858");
  if (phase === "Succeeded")
    return said === expected
      ? done("")
      : ended("failed", `pod ${name} reads ${JSON.stringify(said)} and not ${JSON.stringify(expected)}`, "SNAP-859");
  const isSeen = pod.spec?.nodeName !== undefined || pod.status?.conditions !== undefined;
  const unseen = "no scheduler has looked at it: are there nodes?";
  const why = isSeen ? (reasonOfPod(asJson(pod), events.map(asJson)) ?? "it runs") : unseen;
  return unpulled.test(why) ? ended("blocked", `pod ${name}: ${why}`, "SNAP-857") : waiting(`pod ${name}: ${why}`);
}

const asJson = (object: object): JsonObject => object as unknown as JsonObject;
