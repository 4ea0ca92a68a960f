/**
 * Simulated users: each has a claim, takes snapshots of it and deletes them in various ways, without a proxy, and
 * tries again when the API server or the driver is away. What they want at the end is written down as they go.
 */
import { draftOf } from "../../../src/api/builders.ts";
import { annotations } from "../../../src/api/names.ts";
import type { DeletionPolicy } from "../../../src/api/types.ts";
import { realWorld } from "../../../src/base/world.ts";
import { type ChaosHarness, secretName } from "./harness.ts";
import type { Intention, Intentions } from "./intentions.ts";
import { createUserClient, type UserClient } from "./user-client.ts";

export interface UserOptions {
  readonly context: ChaosHarness;
  readonly requests: Intentions;
  readonly number: number;
  readonly dice: () => number;
  readonly signal: AbortSignal;
}

/** How many snapshots a user keeps before deleting older ones. */
const keptMax = 8;
/** A snapshot deleted during CreateSnapshot is as good a case as a ready one. */
const hasteMs = { min: 0, spread: 2_500 };
const pauseMs = { min: 150, spread: 900 };

/** How many claims of the provisioner a user keeps. */
const servedMax = 4;

interface Desk extends UserOptions {
  readonly handler: UserClient;
  readonly kept: Intention[];
  /** Claims that the provisioner has served. */
  readonly served: string[];
  claim: string;
  counter: number;
}

type Deed = (desk: Desk) => Promise<void>;

export async function work(options: UserOptions): Promise<void> {
  const { context: harness, signal, dice, requests: intentions } = options;
  const client = createUserClient(harness, intentions);
  const desk: Desk = { ...options, handler: client, kept: [], served: [], claim: "", counter: 0 };
  await newClaim(desk);
  while (!signal.aborted) {
    const deed = desk.kept.length >= keptMax ? "delete" : drawn(dice());
    await deeds[deed](desk).catch((reason: Error) => void intentions.complaints.push(`${deed}: ${reason.message}`));
    intentions.count(deed);
    await pause(desk, pauseMs, signal);
  }
}

const named = (desk: Desk, prefix: string): string => {
  desk.counter += 1;
  return `${prefix}-${desk.number}-${desk.counter}`;
};

const pause = ({ dice }: Desk, ms: { min: number; spread: number }, signal?: AbortSignal): Promise<void> =>
  realWorld.sleep(ms.min + dice() * ms.spread, signal).catch(() => undefined);

function taken({ kept, dice }: Desk): Intention | undefined {
  const index = Math.floor(dice() * kept.length);
  return kept.splice(index, 1)[0];
}

async function keep(desk: Desk, policy: DeletionPolicy = "Delete"): Promise<Intention> {
  const request = await desk.handler.take(named(desk, "kept"), desk.claim, policy);
  desk.kept.push(request);
  return request;
}

async function newClaim(desk: Desk): Promise<void> {
  const claim = named(desk, "claim");
  await desk.handler.claim(claim);
  desk.claim = claim;
}

/** A snapshot that was taken directly at the driver, or released before, brought into the cluster. */
async function adopt(desk: Desk): Promise<void> {
  const { handler: hand, requests: wishes, context: stage, dice } = desk;
  const handle = (dice() < 0.5 ? wishes.takeBack() : undefined) ?? (await hand.cut(named(desk, "by-hand"), desk.claim));
  const name = named(desk, "adopted");
  const policy: DeletionPolicy = dice() < 0.7 ? "Delete" : "Retain";
  const { driver, namespace } = stage.furniture;
  const content = draftOf(
    "VolumeSnapshotContent",
    {
      name,
      annotations: { [annotations.deletionSecretName]: secretName, [annotations.deletionSecretNamespace]: namespace },
    },
    {
      spec: {
        driver,
        deletionPolicy: policy,
        source: { snapshotHandle: handle },
        volumeSnapshotRef: { namespace, name },
      },
    },
  );
  await hand.create("VolumeSnapshotContent", content);
  const wanted = await hand.want(name, policy, { volumeSnapshotContentName: name });
  // Deleted before the driver has confirmed the handle, it would leave its data behind.
  await hand.untilReady(wanted);
  desk.kept.push(wanted);
}

/** Keeps a claim that the provisioner serves, and gives an older one up. */
async function serve(desk: Desk, snapshot?: string): Promise<string> {
  const name = named(desk, "served");
  await desk.handler.provision(name, snapshot);
  desk.served.push(name);
  const oldest = desk.served.length > servedMax ? desk.served.shift() : undefined;
  if (oldest !== undefined) await desk.handler.removeClaim(oldest);
  return name;
}

const deeds = {
  provision: async (desk) => desk.handler.untilBound(await serve(desk)),
  restore: async (desk) => desk.handler.untilBound(await serve(desk, (desk.kept.at(-1) ?? (await keep(desk))).name)),
  // The claim came before the deletion, so it is finished, and the snapshot waits for it.
  "restore and delete": async (desk) => {
    const wish = taken(desk);
    if (wish === undefined) return;
    await desk.handler.untilReady(wish);
    const name = await serve(desk, wish.name);
    await desk.handler.remove(wish);
    await desk.handler.untilBound(name);
  },
  "hasty claim": async (desk) => {
    const name = named(desk, "hasty-claim");
    await desk.handler.provision(name, desk.dice() < 0.5 ? desk.kept.at(-1)?.name : undefined);
    await pause(desk, { min: 0, spread: 400 });
    await desk.handler.removeClaim(name);
  },
  keep: async (desk) => void (await keep(desk)),
  delete: async (desk) => {
    const wish = taken(desk);
    if (wish !== undefined) await desk.handler.remove(wish);
  },
  hasty: async (desk) => {
    const wish = await desk.handler.take(named(desk, "hasty"), desk.claim, "Delete");
    await pause(desk, hasteMs);
    await desk.handler.remove(wish);
  },
  "re-create": async (desk) => {
    const before = await desk.handler.take(named(desk, "again"), desk.claim, "Delete");
    await pause(desk, hasteMs);
    await desk.handler.remove(before);
    desk.kept.push(await desk.handler.take(before.name, desk.claim, "Delete", before.uid));
  },
  retain: async (desk) => {
    const wish = await desk.handler.take(named(desk, "retained"), desk.claim, "Retain");
    await desk.handler.untilReady(wish);
    await desk.handler.remove(wish);
  },
  "let go": async ({ requests: wishes, handler: hand }) => {
    const content = wishes.someRetained();
    if (content !== undefined) await hand.letGo(content);
  },
  "pre-provisioned": adopt,
  "content first": async (desk) => {
    const wish = await desk.handler.take(named(desk, "order"), desk.claim, "Delete");
    await desk.handler.untilReady(wish);
    await desk.handler.removeContentOf(wish);
    await desk.handler.remove(wish);
  },
  "delete claim": async (desk) => {
    await desk.handler.untilBegun(await keep(desk));
    await desk.handler.removeClaim(desk.claim);
    await newClaim(desk);
  },
} as const satisfies Record<string, Deed>;

/** How often each is done, out of a hundred. */
const weights: readonly (readonly [keyof typeof deeds, number])[] = [
  ["keep", 15],
  ["delete", 12],
  ["hasty", 10],
  ["re-create", 9],
  ["retain", 8],
  ["let go", 5],
  ["pre-provisioned", 8],
  ["content first", 5],
  ["delete claim", 5],
  ["provision", 5],
  ["restore", 8],
  ["restore and delete", 4],
  ["hasty claim", 6],
];

function drawn(lot: number): keyof typeof deeds {
  let left = lot * 100;
  for (const [deed, weight] of weights) {
    left -= weight;
    if (left < 0) return deed;
  }
  return "keep";
}
