/** What `explain` decides from a cluster it decides from a bundle of `gather` too: both read what the table of fields keeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { equal } from "../../src/base/json.ts";
import { bundleObject } from "../../src/cli/gather/bundle-object.ts";
import { clusterLists, namedObjects, namespaceLists } from "../../src/cli/gather/tables.ts";
import { answerTo, objectsOf, stuckCases } from "./answer.ts";
import type { ClusterObject } from "./cluster.ts";

const gathered = (object: ClusterObject): ClusterObject => bundleObject(object, object.kind) as ClusterObject;

/** What an answer consists of, without the words of others: a bundle leaves out of them what looks like a credential. */
const partsOf = async (answer: ReturnType<typeof answerTo>) => {
  const { object, verdict, cause, at, actor, sinceMs, chain, next, running, gaps } = (await answer) ?? {};
  const links = chain?.map((link) => [link.object, link.phase, link.cause, link.waitsFor, link.sinceMs]);
  const commands = next?.map(({ command }) => command);
  return { object, verdict, cause, at, actor, sinceMs, links, commands, running, gaps };
};

for (const each of stuckCases)
  test(`given ${each.given}, the answer from a bundle is that from the cluster`, async () => {
    const fromBundle = await partsOf(answerTo(each, objectsOf(each).map(gathered)));
    assert.deepEqual(fromBundle, await partsOf(answerTo(each)));
  });

/** Each field of the object that is read, as "Kind" and its path. */
function watched(object: ClusterObject, seen: (path: readonly string[], value: unknown) => void): ClusterObject {
  const proxied = (value: object, path: readonly string[]): object =>
    new Proxy(value, {
      get: (target, name, receiver) => {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof name === "symbol" || !Object.hasOwn(target, name)) return member;
        const at = [...path, name];
        if (typeof member === "object" && member !== null) return proxied(member, at);
        seen(at, member);
        return member;
      },
    });
  return proxied(object, []) as ClusterObject;
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], value);

/** Words of others lose what looks like a credential, and keep the rest. */
const isRedacted = (original: unknown, kept: unknown): boolean =>
  typeof original === "string" && typeof kept === "string" && kept.includes("***");

test("gather keeps every field that a decision has read in the cases", async () => {
  const read = new Map<string, { readonly original: unknown; readonly kept: unknown }>();
  for (const [index, each] of stuckCases.entries()) {
    const objects = objectsOf(each).map((object) =>
      watched(object, (path, value) =>
        read.set(`${object.kind}.${path.join(".")} of ${object.metadata.name} in case ${index}`, {
          original: value,
          kept: valueAt(gathered(object), path),
        }),
      ),
    );
    await answerTo(each, objects);
  }
  const lost = [...read].filter(([, { original, kept }]) => !equal(original, kept) && !isRedacted(original, kept));
  assert.deepEqual(
    lost.map(([path]) => path),
    [],
  );
  const paths = new Set([...read.keys()].map((path) => path.split(" ", 1)[0]?.replace(/\.\d+/g, "")));
  assert.ok(paths.size >= 100, `${paths.size} different fields are read`);
});

test("gather collects every kind that a decision has asked for in the cases", async () => {
  const collected = new Set([...clusterLists, ...namespaceLists("team"), ...namedObjects].map(({ kind }) => kind));
  const asked = new Set<string>();
  for (const each of stuckCases) await answerTo(each, objectsOf(each), (kind) => asked.add(kind));
  assert.deepEqual(
    [...asked].filter((kind) => !collected.has(kind)),
    [],
  );
  assert.ok(asked.size >= 15, [...asked].join(", "));
});
