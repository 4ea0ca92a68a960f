/** Drivers that are slow, that refuse, that hang, and what a user must still be able to do beside them. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { parameters } from "../../../../src/api/names.ts";
import { aClassFor } from "../../harness/components.ts";
import type { Row } from "../row.ts";
import { broken, message, refusal } from "../wire.ts";

const [resourceExhausted, invalidArgument, unavailable] = [8, 3, 14];
const password = "open-sesame-4711";

const named = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

export const errorRows: readonly Row[] = [
  {
    driver: "has no space for a snapshot until the claim is deleted",
    script: { createSnapshot: () => refusal(resourceExhausted, "no space left in the pool") },
    claimFirst: true,
    mended: {},
    right: { ready: false },
    says: /no space left in the pool/,
  },
  {
    driver: "is unavailable for snapshots until they are deleted",
    script: { createSnapshot: () => refusal(unavailable, "the backend is away") },
    mended: {},
    right: { ready: false },
  },
  {
    driver: "refuses to take a snapshot for good",
    script: { createSnapshot: () => refusal(invalidArgument, "this volume has no snapshots") },
    right: { ready: false },
    says: /this volume has no snapshots/,
  },
  {
    driver: "takes a snapshot and loses the connection, twice",
    script: {
      createSnapshot: ({ honest, times }) => {
        const reply = honest();
        return times <= 2 ? broken : message(reply);
      },
    },
  },
  {
    driver: "needs eight seconds for each Probe",
    script: {
      probe: async () => {
        await sleep(8_000);
        return message({ ready: true });
      },
    },
    flags: ["--timeout=20s"],
  },
  {
    driver: "repeats the password of its secret in what it refuses with",
    secret: { user: "admin", password },
    parameters: {
      [`${parameters.prefix}snapshotter-secret-name`]: "access",
      [`${parameters.prefix}snapshotter-secret-namespace`]: `\${volumesnapshot.namespace}`,
    },
    script: {
      createSnapshot: ({ request }) => refusal(invalidArgument, `login as ${JSON.stringify(request.secrets)} failed`),
    },
    right: { ready: false },
    says: /login as .* failed/,
    shows: ({ error, events }) =>
      assert.ok(![error, ...events].join("\n").includes(password), "status and events show the password"),
  },
  {
    driver: "gets names with more characters of the uid than it has",
    script: {},
    flags: ["--snapshot-name-uuid-length=36"],
  },
  {
    driver: "hangs with twelve snapshots of one claim, beside twenty of another",
    claims: ["stuck", "data"],
    script: {
      createSnapshot: async ({ request, honest, mended }) => {
        if (request.sourceVolumeId === "stuck") await mended;
        return message(honest());
      },
    },
    isLoad: true,
    mended: {},
    readyMs: 30_000,
    user: async ({ take, driver }) => {
      for (const name of named(12, "stuck")) await take(name, "stuck");
      const deadline = performance.now() + 5_000;
      while (driver.asked.create.length < 10 && performance.now() < deadline) await sleep(50);
      const others = named(20, "free");
      for (const name of others) await take(name);
      return others;
    },
  },
  {
    driver: "gets a burst of 110 snapshots right after the class was made",
    script: {},
    isLoad: true,
    user: async ({ client, driver, namespace, take }) => {
      const names = named(110, "burst");
      const late = `${namespace}-late`;
      await aClassFor({ client, driver: driver.name }, late, "Delete");
      await Promise.all(names.map((name) => take(name, "data", late)));
      return names;
    },
    readyMs: 60_000,
    shows: ({ events }) =>
      assert.deepEqual(
        events.filter((event) => event.includes("GetSnapshotClassFailed")),
        [],
      ),
  },
];
