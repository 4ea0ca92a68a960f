import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { callErrorRows } from "./calls.ts";
import { after, codeIn, errorCodes, errorRows, fix, remedyOf, shortened, withCode, withoutCode } from "./codes.ts";
import { migrationErrorRows } from "./migration.ts";
import { objectErrorRows } from "./objects.ts";
import type { ErrorRow } from "./row.ts";
import { shareControllerErrorRows } from "./share-controller.ts";
import { shareErrorRows } from "./shares.ts";
import { snapshotErrorRows } from "./snapshots.ts";
import { volumeErrorRows } from "./volumes.ts";

const root = resolve(import.meta.dirname, "../..");

/** A released code is never removed, nor used for something else: this list only grows. */
const released = `101 102 103 111 112 113 114 115 116 117 121 122 123 131 132 133 134 135 136 191 192
  201 202 203 204 211 212 213 214 221 222 223 224 225 226 227 231 232 233 241 242 251 252 253 254 255 256 291 292 293
  301 302 303 304 305 306 307 308 309 321 322 323 324 325 326 331 332 333 334 335 336 337 338 341 342 343 344 351 352 391
  401 402 403 501 502 503 504 511 512 513 514 515 516 521 531 532 533 534`;

test("no released code is gone", () => {
  const missing = released.split(/\s+/).filter((number) => !Object.hasOwn(errorRows, `SNAP-${number}`));
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
  for (const code of errorCodes) {
    const { title, why } = errorRows[code];
    assert.match(title, /^[A-Z].*[^.]$/, code);
    assert.match(why, /^[A-Z].*\.$/, code);
    assert.match(remedyOf(code), /^[A-Z].*[^.]\.$/, code);
  }
});

test("the clause that ends a message begins the documentation, where a default stands for each name", () => {
  assert.equal(fix("SNAP-306", "disk.example.com"), "use a StorageClass of disk.example.com");
  assert.equal(remedyOf("SNAP-306"), "Use a StorageClass of the driver of the snapshot.");
  assert.equal(fix("SNAP-322"), "clone another claim");
  assert.equal(remedyOf("SNAP-322"), "Clone another claim. Or restore a VolumeSnapshot.");
});

/** The API server refuses the change of a source (SNAP-102): to name another one, it takes another VolumeSnapshot. */
test("nobody is told to change the source of a VolumeSnapshot", () => {
  const rest = "or delete the VolumeSnapshot and create one that names an existing";
  assert.equal(fix("SNAP-202", "content-1"), `create content-1, ${rest} content`);
  assert.equal(fix("SNAP-221", "it"), `create it, ${rest} claim`);
});

/** Where a remedy still stands a second time, in the words of its row; the numbers may only fall. */
const remediesLeft: Readonly<Record<string, number>> = { "src/components/csi-snapshotter/": 1 };

test("a remedy is written once: no file repeats what the rows say", () => {
  const short = 26;
  const mark = "\u0000";
  const texts = errorCodes.flatMap((code) => {
    const clause: ErrorRow["fix"] = errorRows[code].fix;
    const words = typeof clause === "string" ? clause : clause(mark, mark);
    return words.split(mark).filter((text) => text.length >= short);
  });
  const repeated = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts") && !path.startsWith("src/errors/"))
    .flatMap((path) => {
      const program = readFileSync(resolve(root, path), "utf8");
      return texts.filter((text) => program.includes(text)).map((text) => ({ path, text }));
    });
  const leftIn = ({ path }: { path: string }): string | undefined =>
    Object.keys(remediesLeft).find((start) => path.startsWith(start));
  assert.deepEqual(
    repeated.filter((one) => leftIn(one) === undefined),
    [],
  );
  for (const [start, most] of Object.entries(remediesLeft))
    assert.ok(repeated.filter((one) => leftIn(one) === start).length <= most, start);
});

/** Types see to it that a code has a row; that a row has a message is seen here. */
test("each code is used by the program", () => {
  const program = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts") && !path.startsWith("src/errors/"))
    .map((path) => readFileSync(resolve(root, path), "utf8"))
    .join("\n");
  assert.deepEqual(
    errorCodes.filter((code) => !program.includes(`"${code}"`)),
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
