import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReasonCode } from "../../../api/reasons.ts";
import type { SharedSecret } from "../../../api/types.ts";
import type { Finding } from "./memory.ts";
import type { ShareView } from "./observe.ts";
import { planShare } from "./plan.ts";

const reference = { namespace: "team", name: "password" };
const sinceMs = Date.parse("2026-01-01T00:00:00Z");
const nowMs = sinceMs + 60_000;
/** Of the process, whatever the wall clock says. */
const elapsedMs = 5_000;

function aView(finding: Finding | undefined, metadata: object = {}, status?: object): ShareView {
  const share = {
    apiVersion: "sharedresource.openshift.io/v1alpha1",
    kind: "SharedSecret",
    metadata: { name: "share", uid: "uid-share", resourceVersion: "1", generation: 1, ...metadata },
    spec: { secretRef: reference },
    status,
  } as unknown as SharedSecret;
  const look = finding && { generation: 1, reference, finding, atMs: elapsedMs, isWritten: false };
  return {
    kind: "SharedSecret",
    share,
    reference,
    look,
    counted: undefined,
    lists: undefined,
    relistMs: 60_000,
    nowMs,
    elapsedMs,
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
  readonly reason: ReasonCode;
  readonly says: RegExp;
  readonly waitsFor?: string;
  readonly sinceMs?: number;
}[] = [
  {
    given: "a share that has not been looked at",
    view: aView(undefined),
    reason: "Writes",
    says: /asked for Secret team\/password/,
  },
  {
    given: "a share whose Secret exists",
    view: aView("found"),
    reason: "Settled",
    says: /Secret team\/password exists/,
  },
  {
    given: "a share without its Secret",
    view: aView("missing"),
    reason: "SecretNotFound",
    says: /Secret team\/password does not exist; create it/,
    waitsFor: "password",
  },
  {
    given: "a share whose Secret is missing since a minute",
    view: aView("missing", {}, notAvailable),
    reason: "SecretNotFound",
    says: /does not exist/,
    waitsFor: "password",
    sinceMs,
  },
  {
    given: "a share whose Secret may not be read",
    view: aView("forbidden"),
    reason: "NotPermitted",
    says: /let its service account get secrets with resourceNames \[password\]/,
    waitsFor: "password",
  },
  {
    given: "a share that is being deleted",
    view: aView("missing", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    reason: "Settled",
    says: /being deleted/,
  },
];

for (const { given, view, reason, says, waitsFor, sinceMs: since } of cases)
  test(`given ${given}, the reason is ${reason}`, () => {
    const found = planShare(view).reason;
    assert.equal(found?.code, reason);
    assert.match(found?.says ?? "", says);
    assert.equal(found?.waitsFor[0]?.name, waitsFor);
    assert.equal(found?.sinceMs, since);
  });
