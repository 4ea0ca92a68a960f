import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { after, codeIn, errorRows, shortened, withCode, withoutCode } from "./error-codes.ts";
import { callErrorRows } from "./error-codes-calls.ts";
import { migrationErrorRows } from "./error-codes-migration.ts";
import { objectErrorRows } from "./error-codes-objects.ts";
import { shareControllerErrorRows } from "./error-codes-share-controller.ts";
import { shareErrorRows } from "./error-codes-shares.ts";
import { snapshotErrorRows } from "./error-codes-snapshots.ts";
import { volumeErrorRows } from "./error-codes-volumes.ts";

const root = resolve(import.meta.dirname, "../..");
const codes = Object.keys(errorRows);

/** A released code is never removed, nor used for something else: this list only grows. */
const released = `101 102 103 111 112 113 114 115 116 117 121 122 123 131 132 133 134 135 136 191 192
  201 202 203 204 211 212 213 214 221 222 223 224 225 226 227 231 232 233 241 242 251 252 253 254 255 256 291 292 293
  301 302 303 304 305 306 307 308 309 321 322 323 324 325 326 331 332 333 334 335 336 337 338 341 342 343 344 351 352 391
  401 402 403 501 502 503 504 511 512 513 514 515 516 521 531 532 533 534`;

test("no released code is gone", () => {
  const missing = released.split(/\s+/).filter((number) => !codes.includes(`SNAP-${number}`));
  assert.deepEqual(missing, []);
});

test("each table of rows has its own first digits", () => {
  const digits = (rows: object): string => [...new Set(Object.keys(rows).map((code) => code[5]))].sort().join("");
  assert.deepEqual(
    [
      objectErrorRows,
      snapshotErrorRows,
      volumeErrorRows,
      callErrorRows,
      migrationErrorRows,
      { ...shareErrorRows, ...shareControllerErrorRows },
    ].map(digits),
    ["14", "2", "3", "5", "6", "7"],
  );
});

test("each row is whole sentences, and its title is a heading without a full stop", () => {
  for (const [code, { title, why, remedy }] of Object.entries(errorRows)) {
    assert.match(title, /^[A-Z].*[^.]$/, code);
    assert.match(why, /^[A-Z].*\.$/, code);
    assert.match(remedy, /^[A-Z].*\.$/, code);
  }
});

/** Types see to it that a code has a row; that a row has a message is seen here. */
test("each code is used by the program", () => {
  const program = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts") && !path.includes("/error-codes-"))
    .map((path) => readFileSync(resolve(root, path), "utf8"))
    .join("\n");
  assert.deepEqual(
    codes.filter((code) => !program.includes(`"${code}"`)),
    [],
  );
});

test("components write status.error by the function that wants a code", () => {
  const strays = globSync("src/components/**/*.ts", { cwd: root }).filter(
    (path) =>
      !path.endsWith(".test.ts") && /\berror\s*[:=]\s*\{\s*message\b/.test(readFileSync(resolve(root, path), "utf8")),
  );
  assert.deepEqual(strays, []);
});

test("a user's text cannot get into an event or a verdict without a code", () => {
  // @ts-expect-error Plain text is no coded message.
  const message: ReturnType<typeof withCode> = "plain";
  assert.equal(typeof message, "string");
});

test("a quoted message loses its code, and only that", () => {
  assert.equal(withoutCode(withCode("in use [x]", "SNAP-531")), "in use [x]");
  assert.equal(withoutCode("as another sidecar says it"), "as another sidecar says it");
});

test("the code that ends a message is read from it, and a message of somebody else has none", () => {
  assert.equal(codeIn(withCode("in use [SNAP-501]", "SNAP-531")), "SNAP-531");
  for (const said of ["as another sidecar says it", "[SNAP-531] in front", "of a newer release [SNAP-999]"])
    assert.equal(codeIn(said), undefined);
});

test("a shortened message keeps its code", () => {
  const long = withCode("x".repeat(300), "SNAP-501");
  assert.equal(shortened(long, 100).length, 100);
  assert.match(shortened(long, 100), /^x+… \[SNAP-501\]$/);
  assert.equal(shortened("y".repeat(101), 100), `${"y".repeat(99)}…`);
  assert.equal(shortened(long, 1_000), long);
});

test("what a user wrote is quoted on one line, and commands neither a terminal nor a CI job", () => {
  const name = "a\u001b[2J\u009b2J\r\n::error::fake\u202e";
  const shown = "a\\u001b[2J\\u009b2J\\u000d\\n::error::fake\\u202e";
  assert.equal(withCode(`claim ${name} not found`, "SNAP-201"), `claim ${shown} not found [SNAP-201]`);
  assert.equal(after(`${name}: `, withCode("wrong", "SNAP-201")), `${shown}: wrong [SNAP-201]`);
});
