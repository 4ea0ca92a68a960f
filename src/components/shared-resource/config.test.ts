import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createMemoryLog, temporaryFolder } from "../../../test/csi-sockets.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { silent } from "../../base/log.ts";
import { defaultConfig, parseConfig, readConfigFile, whenConfigChanges } from "./config.ts";

test("a missing file means the defaults", async (t) => {
  const path = join(temporaryFolder(t), "config.yaml");
  assert.deepEqual(parseConfig(path, await readConfigFile(path), silent), defaultConfig);
});

test("both keys are read, and others ignored", () => {
  const text = "shareRelistInterval: 20m\nrefreshResources: false\nignoredNamespaces: [a]\n";
  assert.deepEqual(parseConfig("c", text, silent), { shareRelistIntervalMs: 1_200_000, refreshResources: false });
});

test("an interval that is none is reported, and the default counts", () => {
  for (const value of ["bogus", "-1m", "0s", "7"]) {
    const log = createMemoryLog();
    assert.equal(parseConfig("c", `shareRelistInterval: ${value}`, log).shareRelistIntervalMs, 600_000);
    assert.equal(log.lines[0]?.level, "error", value);
  }
});

test("a file that is no YAML, or no mapping, or cannot be read, ends the process", async (t) => {
  assert.throws(() => parseConfig("c", "a: [", silent), { code: "FailedPrecondition" });
  assert.throws(() => parseConfig("c", "- a", silent), { code: "FailedPrecondition", message: /mapping/ });
  await assert.rejects(readConfigFile(temporaryFolder(t)), { code: "FailedPrecondition" });
});

test("another text is noticed after three seconds; an error while reading is no change", async (t) => {
  const path = join(temporaryFolder(t), "config.yaml");
  writeFileSync(path, "refreshResources: true");
  const world = createVirtualWorld();
  const stop = new AbortController();
  let changed: boolean | undefined;
  void whenConfigChanges(path, "refreshResources: true", { world, signal: stop.signal }).then((is) => {
    changed = is;
  });
  const passes = async (): Promise<void> => {
    await world.advance(3_000);
    await readConfigFile(path).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await passes();
  assert.equal(changed, undefined);
  writeFileSync(path, "refreshResources: false");
  chmodSync(path, 0o600);
  for (let tries = 0; changed === undefined && tries < 50; tries++) await passes();
  assert.equal(changed, true);
});
