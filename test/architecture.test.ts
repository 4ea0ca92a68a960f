/** docs/architecture.md, held against what runs and against the sources. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { withWalks } from "./map/page.ts";
import { requestName, type Walk } from "./map/trace.ts";
import { root } from "./sources.ts";

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
const page = textOf("docs/architecture.md");

test("the walks are those that the sources take today: npm run map", async () => {
  // In a process of its own: the engine counts whatever else runs in this one.
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "test/map/run.ts"), "--check"], {
    maxBuffer: 2 ** 24,
  });
  assert.equal(stdout, page);
});

test("a walk names what decides first, in the order in which it is read, and then what carries out", () => {
  const called = (file: string, name: string) => ({ file, name, at: 1 });
  const walk: Walk = {
    title: "A walk",
    about: "From here to there.",
    steps: [
      {
        before: "one: POST things",
        first: [
          called("src/apiserver/server.ts", "page"),
          called("src/components/webhook/index.ts", "answer"),
          called("src/components/csi-snapshotter/plan.ts", "planContent"),
          called("src/components/csi-snapshotter/observe.ts", ""),
          called("src/kube/client.ts", "get"),
        ],
      },
      { before: undefined, first: [] },
    ],
  };
  const text = withWalks("<!-- npm run map --><!-- end of npm run map -->", [walk]);
  const lines = text.split("\n").filter((line) => /^ *(-|\d\.|Transport|From)/.test(line));
  assert.deepEqual(lines, [
    "From here to there. 4 files, 4 functions; 1 outgoing request.",
    "1. before `one: POST things`",
    "    - `src/components/csi-snapshotter/observe.ts`: 1 without a name",
    "    - `src/components/csi-snapshotter/plan.ts`: planContent",
    "2. the end",
    "- `src/components/webhook/index.ts`: answer",
    "Transport, one step: `src/kube` and `src/csi` (1 file, 1 function). Vocabulary: `src/api`, `src/errors` and `src/base` (0 files, 0 functions).",
  ]);
});

test("a request is named by its method, resource and subresource", () => {
  const names = [
    "/api/v1/namespaces/default/persistentvolumeclaims/data",
    "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots/monday/status",
    "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents?limit=1",
    "/api/v1/namespaces/default",
  ].map((path) => requestName({ method: "PUT", path, headers: {} }));
  assert.deepEqual(names, [
    "PUT persistentvolumeclaims",
    "PUT volumesnapshots/status",
    "PUT volumesnapshotcontents",
    "PUT namespaces",
  ]);
});

test("every page names the same five steps", () => {
  for (const path of ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/guides/add-a-component.md"]) {
    const text = textOf(path);
    assert.match(text, /the same five steps/, path);
    assert.match(text, /caches → observe → phase → plan → act/, path);
  }
});

test("every file, folder and symbol that the page names exists", () => {
  const names = [...page.matchAll(/`((?:src|test)\/[\w./-]+)(?:#(\w+))?/g)];
  const missing = names.filter(([, name = "", symbol = ""]) =>
    symbol === "" ? !existsSync(join(root, name)) : !new RegExp(`function ${symbol}\\b`).test(textOf(name)),
  );
  assert.deepEqual(
    missing.map(([text]) => text),
    [],
  );
});
