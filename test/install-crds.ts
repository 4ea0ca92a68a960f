/** Snapshot CRDs that `install` leaves to `migrate`: in which state, and which command each of the two names next. */
import assert from "node:assert/strict";
import { type CrdDraft, type CrdPhase, snapshotCrds } from "../src/api/crds/index.ts";
import type { ManifestObject } from "../src/api/manifests/component.ts";
import { versionAnnotation } from "../src/api/manifests/objects.ts";
import type { JsonObject } from "../src/base/json.ts";
import { at } from "../src/cli/install/fields.ts";
import { recordAnnotation } from "../src/cli/migrate/definition.ts";
import { binding, type Ended, edited, type InstallSession, type RowSession, rowSession } from "./install-states.ts";
import { cleanUp } from "./install-table.ts";

const version = "1.2.3";

async function bindingNames({ resources }: RowSession, namespace: string | undefined): Promise<void> {
  const [subject] = ((await resources.read(binding))?.subjects ?? []) as readonly JsonObject[];
  assert.equal(at(subject, "namespace"), namespace);
}

/** A snapshot CRD with the annotation of this release, and with what a migration has recorded on it. */
export const crdsIn = (phase: CrdPhase, record?: object): readonly CrdDraft[] =>
  snapshotCrds(phase).map((crd) => ({
    ...crd,
    metadata: {
      ...crd.metadata,
      annotations: {
        ...crd.metadata.annotations,
        [versionAnnotation]: version,
        ...(record === undefined ? {} : { [recordAnnotation]: JSON.stringify(record) }),
      },
    },
  }));

export interface CrdState {
  readonly cluster: string;
  /** Each replaces the ones before, as kubectl would. */
  readonly crds: readonly (readonly CrdDraft[])[];
  /** The command that `install` names. */
  readonly next: string;
  readonly status: RegExp;
  /** What `migrate` does with these words, and the phase that it leaves. */
  readonly commands: Readonly<Record<string, MigrateRow>>;
}

interface MigrateRow {
  readonly code: 0 | 1;
  readonly says: RegExp;
  readonly phase: CrdPhase;
}
const ends = (phase: CrdPhase): MigrateRow => ({ code: 0, says: new RegExp(`CRDs are in phase ${phase}`), phase });
const refused = (says: RegExp, phase: CrdPhase): MigrateRow => ({ code: 1, says, phase });

const record = { run: "r", startedAt: "2026-01-01T00:00:00Z", serveV1beta1: false };

/** What `install` says of CRDs that it leaves to `migrate`, and what `migrate --status` says of them. */
export const crdStates: readonly CrdState[] = [
  {
    cluster: "in phase 1",
    crds: [crdsIn(1)],
    next: "snapkeep migrate --to-phase=3",
    status: /^the CRDs are in phase 1$/m,
    commands: {
      "--to-phase=1": { code: 0, says: /in phase 1; nothing to do/, phase: 1 },
      "--to-phase=2 --dry-run": { code: 0, says: /^1\. apply the CRD of phase 2/m, phase: 1 },
      "--rollback": refused(/nothing to go back to \[SNAP-605\]/, 1),
      "--rollback --to-phase=2": refused(/leave out --rollback .*\[SNAP-607\]/, 1),
    },
  },
  {
    cluster: "in phase 2",
    crds: [crdsIn(2)],
    next: "snapkeep migrate --to-phase=3",
    status: /^the CRDs are in phase 2$/m,
    commands: {
      "--to-phase=1": refused(/add --rollback .*\[SNAP-607\]/, 2),
      "--rollback": ends(1),
      "--rollback --to-phase=1": ends(1),
      "--to-phase=2 --serve-v1beta1": ends(2),
    },
  },
  {
    cluster: "in phase 3, at the beginning of a rollback",
    crds: [crdsIn(3, { ...record, goal: 2, back: true, step: "begun" })],
    next: "snapkeep migrate --rollback --to-phase=2",
    status: /^a rollback to phase 2 has not ended; next: snapkeep migrate --rollback --to-phase=2$/m,
    commands: {
      "--rollback": ends(2),
      "--rollback --to-phase=1": ends(1),
      "--to-phase=2": refused(/add --rollback .*\[SNAP-607\]/, 3),
      "--to-phase=3": ends(3),
    },
  },
  {
    cluster: "in phase 2, in the middle of a migration",
    crds: [crdsIn(2, { ...record, goal: 2, back: false, step: "apply", serveV1beta1: true })],
    next: "snapkeep migrate --to-phase=2 --serve-v1beta1",
    status: /^a migration to phase 2 has not ended; next: snapkeep migrate --to-phase=2 --serve-v1beta1$/m,
    commands: {
      "--to-phase=3": ends(3),
      "--rollback": ends(1),
    },
  },
  {
    cluster: "in phase 3 over phase 1, by kubectl",
    crds: [crdsIn(1), crdsIn(3)],
    next: "snapkeep migrate --to-phase=3",
    status:
      /^left to do: rewrite .*\n(.*\n)*status.storedVersions still has v1beta1: objects may be stored in it; next: snapkeep migrate --to-phase=3$/m,
    commands: {
      "--rollback": ends(2),
      "--to-phase=2": refused(/add --rollback .*\[SNAP-607\]/, 3),
    },
  },
  {
    cluster: "in phase 3 over phase 2, by an older install in the middle of a migration",
    crds: [
      crdsIn(2, { ...record, goal: 2, back: false, step: "apply" }),
      crdsIn(3, { ...record, goal: 2, back: false, step: "apply" }),
    ],
    next: "snapkeep migrate --to-phase=3",
    status:
      /^volumesnapshots\S+ was changed by something else after the last migration\n(.*\n)*status.storedVersions .*; next: snapkeep migrate --to-phase=3$/m,
    commands: {
      // The record of the migration is not joined.
      "--rollback": ends(2),
      "--to-phase=2": refused(/add --rollback .*\[SNAP-607\]/, 3),
    },
  },
];

async function storedCrds({ client }: InstallSession): Promise<readonly unknown[]> {
  const { objects } = await client.list("CustomResourceDefinition");
  return objects.map(({ metadata: { name, annotations }, spec }) => ({ name, annotations, spec }));
}

async function replaced({ crds }: CrdState, own: RowSession): Promise<void> {
  for (const crd of crds.slice(1).flat())
    await edited(own, crd as unknown as ManifestObject, (stored) => {
      const { annotations } = crd.metadata;
      Object.assign(stored, { spec: crd.spec, metadata: { ...(stored.metadata as JsonObject), annotations } });
    });
}

const migrate = (session: InstallSession, ...words: readonly string[]): Promise<Ended> =>
  session.snapkeep("migrate", ...words, ...(words.includes("--status") ? [] : ["--settle-duration=0s"]));

/** The first of the CRDs are stored already; install changes them with no command, and the command that it names leads out. */
export async function playCrdState(state: CrdState, session: InstallSession, namespace: string): Promise<void> {
  const { next, status } = state;
  const own = rowSession(session, namespace, `${namespace}-two`);
  try {
    await replaced(state, own);
    const before = await storedCrds(session);
    const refusal = await own.install("--apply", "-n", namespace);
    assert.equal(refusal.code, 1, refusal.text);
    assert.ok(/install never changes a phase; nothing was changed.*\[SNAP-806\]/.test(refusal.text), refusal.text);
    assert.ok(refusal.text.includes(`run ${next} first`), refusal.text);
    await bindingNames(own, undefined);
    const { text } = await own.install("--diff", "-n", namespace);
    assert.ok(text.includes(`is left to snapkeep migrate: `) && text.includes(`; next: ${next}\n`), text);
    assert.match((await migrate(session, "--status")).text, status);
    const beside = await session.whilePodsAreReady(namespace, () =>
      own.install("--apply", "-n", namespace, "--keep-crds"),
    );
    assert.equal(beside.code, 0, beside.text);
    assert.match(beside.text, /^CustomResourceDefinition volumesnapshots\S+ stays as it is: /m);
    await bindingNames(own, namespace);
    assert.deepEqual(await storedCrds(session), before);
    const led = await session.snapkeep(...(next.split(" ").slice(1) as [string]), "--settle-duration=0s");
    assert.equal(led.code, 0, led.text);
    assert.doesNotMatch((await migrate(session, "--status")).text, /; next: /);
  } finally {
    await cleanUp(own);
  }
}

export const migrateRows = crdStates.flatMap((state) =>
  Object.entries(state.commands).map(([command, row]) => ({ state, command, row })),
);

export async function playMigrateRow(
  { state, command, row }: (typeof migrateRows)[number],
  session: InstallSession,
): Promise<void> {
  await replaced(state, rowSession(session, "one", "two"));
  const before = await storedCrds(session);
  const { code, text } = await migrate(session, ...command.split(" "));
  assert.equal(code, row.code, text);
  assert.match(text, row.says);
  if (row.code === 1) assert.deepEqual(await storedCrds(session), before);
  const status = await migrate(session, "--status", "-o", "json");
  assert.equal((JSON.parse(status.text) as { phase: unknown }).phase, row.phase, status.text);
}
