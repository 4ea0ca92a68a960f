import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReasonCode } from "../../../api/reasons.ts";
import type { SharedSecret } from "../../../api/types.ts";
import { type Finding, noMemory } from "./memory.ts";
import type { ShareView } from "./observe.ts";
import { phaseOf, type SharePhase } from "./phase.ts";
import { planShare } from "./plan.ts";

const reference = { namespace: "team", name: "password" };
const sinceMs = Date.parse("2026-01-01T00:00:00Z");
const nowMs = sinceMs + 60_000;

function aView(finding: Finding | undefined, metadata: object = {}, status?: object): ShareView {
  const share = {
    apiVersion: "sharedresource.openshift.io/v1alpha1",
    kind: "SharedSecret",
    metadata: { name: "share", uid: "uid-share", resourceVersion: "1", generation: 1, ...metadata },
    spec: { secretRef: reference },
    status,
  } as unknown as SharedSecret;
  const look = finding && { generation: 1, reference, finding, atMs: 0, isWritten: false, ageMs: 0 };
  return {
    facts: { kind: "SharedSecret", share, reference, lists: undefined, relistMs: 60_000 },
    memory: { ...noMemory, look },
    nowMs,
  };
}

const notAvailable = {
  conditions: [
    {
      type: "Available",
      status: "False",
      reason: "ReferenceNotFound",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
};

const cases: readonly {
  readonly given: string;
  readonly view: ShareView;
  readonly phase: SharePhase;
  readonly reason: ReasonCode;
  readonly says: RegExp;
  readonly waitsFor?: string;
  readonly sinceMs?: number;
}[] = [
  {
    given: "a share that has not been looked at",
    view: aView(undefined),
    phase: "unread",
    reason: "Writes",
    says: /asked for Secret team\/password/,
  },
  {
    given: "a share whose Secret exists",
    view: aView("found"),
    phase: "available",
    reason: "Settled",
    says: /Secret team\/password exists/,
  },
  {
    given: "a share without its Secret",
    view: aView("missing"),
    phase: "missing",
    reason: "SecretNotFound",
    says: /Secret team\/password does not exist; create it/,
    waitsFor: "password",
  },
  {
    given: "a share whose Secret is missing since a minute",
    view: aView("missing", {}, notAvailable),
    phase: "missing",
    reason: "SecretNotFound",
    says: /does not exist/,
    waitsFor: "password",
    sinceMs,
  },
  {
    given: "a share whose Secret may not be read",
    view: aView("forbidden"),
    phase: "forbidden",
    reason: "NotPermitted",
    says: /let its service account get secrets with resourceNames \[password\]/,
    waitsFor: "password",
  },
  {
    given: "a share that is being deleted",
    view: aView("missing", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    phase: "deleting",
    reason: "Settled",
    says: /being deleted/,
  },
];

for (const { given, view, phase, reason, says, waitsFor, sinceMs: since } of cases)
  test(`given ${given}, the reason is ${reason}`, () => {
    assert.equal(phaseOf(view), phase);
    const found = planShare(view).reason;
    assert.equal(found?.code, reason);
    assert.match(found?.says ?? "", says);
    assert.equal(found?.waitsFor[0]?.name, waitsFor);
    assert.equal(found?.sinceMs, since);
  });
