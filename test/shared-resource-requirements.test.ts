import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { testsOfRequirements } from "../scripts/requirements-page.ts";
import { requirements } from "../scripts/shared-resource-requirements.ts";

const root = resolve(import.meta.dirname, "..");
const tests = testsOfRequirements(root);

test("the table has every requirement from R1 to R87", () =>
  assert.deepEqual(
    Object.keys(requirements),
    Array.from({ length: 87 }, (_, index) => `R${index + 1}`),
  ));

test("every requirement has a test that names it, or a reason why it has none", () => {
  const open = Object.entries(requirements).filter(([id, { notCode }]) => notCode === undefined && !tests.has(id));
  assert.deepEqual(
    open.map(([id]) => id),
    [],
  );
});

test("no test names a requirement that there is not, or that is said to be no code", () => {
  const strays = [...tests.keys()].filter(
    (id) => requirements[id] === undefined || requirements[id].notCode !== undefined,
  );
  assert.deepEqual(strays, []);
});

test("R4, R43, R87: webhook, controller, driver and lint judge by one module, which asks nobody", () => {
  const users = globSync("src/**/*.ts", { cwd: root }).filter(
    (file) =>
      !file.endsWith(".test.ts") &&
      /from "[./]*rules\/shared-resources\.ts"/.test(readFileSync(resolve(root, file), "utf8")),
  );
  for (const part of [
    "components/webhook/",
    "components/shared-resource/controller/",
    "components/shared-resource/node/",
    "cli/lint/",
  ])
    assert.ok(
      users.some((file) => file.startsWith(`src/${part}`)),
      part,
    );
  const source = readFileSync(resolve(root, "src/rules/shared-resources.ts"), "utf8");
  const imports = [...source.matchAll(/from "([^"]+)"/g)].map(([, path = ""]) => path);
  assert.deepEqual(
    imports.filter((path) => !/^(\.\/|\.\.\/(api|base|errors)\/)/.test(path)),
    [],
  );
  assert.doesNotMatch(source, /\bawait\b|\basync\b/);
});
