import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, stringify } from "yaml";
import { addEntry, type Mark, removeEntries } from "./entries.ts";

const mark = (run: string): Mark => ({ pid: 7, startedAt: "boot/1", host: "laptop", namespace: "pid:[1]", run });
const entryOf = (run: string) => ({
  cluster: { server: `https://127.0.0.1/${run}` },
  user: { token: `token-of-${run}` },
  mark: mark(run),
});
const runIs = (run: string) => (found: Mark) => found.run === run;

const threeContexts = `# mine
apiVersion: v1
kind: Config
preferences: {}
current-context: "prod"   # careful
clusters:
- cluster:
    server: https://prod.example.com   # the old one
  name: prod
- name: dev
  cluster: {server: 'https://dev.example.com'}
contexts:
  # by hand
  - {name: prod, context: {cluster: prod, user: ada}}
  - name: dev
    context: {cluster: dev, user: ada, namespace: "x y"}
  - name: third
    context:
      cluster: dev
      user: bo
users:
- name: ada
  user: {token: "0123"}
- name: bo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws
      args: [eks, get-token]
`;

const files: Readonly<Record<string, string>> = {
  "three contexts, comments and both styles": threeContexts,
  "no end of line at the end": threeContexts.trimEnd(),
  "Windows line ends": threeContexts.replaceAll("\n", "\r\n"),
  "a byte order mark": `\uFEFF${threeContexts}`,
  "a document start": `---\n${threeContexts}`,
  "nothing at all": "",
  "only comments": "# nothing yet\n",
  "what kubectl writes when it is empty":
    'apiVersion: v1\nclusters: null\ncontexts: null\ncurrent-context: ""\nkind: Config\npreferences: {}\nusers: null\n',
  "keys without values": "clusters:\ncontexts:   # none\nusers: ~\n",
  "empty lists": "clusters: []\ncontexts: [ ]\nusers: []\n",
  "no lists": "apiVersion: v1\nkind: Config\n",
  "some lists": "kind: Config\nusers:\n- {name: a, user: {}}\n",
  JSON: JSON.stringify(parse(threeContexts), undefined, 2),
  "JSON on one line": JSON.stringify(parse(threeContexts)),
  "JSON with nothing in it": "{}",
  "JSON with nulls": '{"kind":"Config","clusters":null,"users":[]}\n',
};

for (const [given, text] of Object.entries(files))
  test(`${given}: the entry can be read, and removing it restores every byte`, () => {
    const { text: added, name } = addEntry(text, entryOf("one"));
    const { clusters, users, contexts } = parse(added);
    assert.equal(name, "snapkeep");
    const [cluster, user, context] = [clusters, users, contexts].map((list) =>
      list.find((item: { readonly name: string }) => item.name === name),
    );
    assert.equal(cluster.cluster.server, "https://127.0.0.1/one");
    assert.equal(user.user.token, "token-of-one");
    assert.deepEqual([context.context.cluster, context.context.user], [name, name]);
    assert.equal(removeEntries(added, runIs("one")), text);
  });

for (const [given, text] of Object.entries(files))
  for (const order of [
    ["one", "two"],
    ["two", "one"],
  ])
    test(`${given}: two entries get two names, and removing ${order.join(" before ")} restores every byte`, () => {
      const first = addEntry(text, entryOf("one"));
      const second = addEntry(first.text, entryOf("two"));
      assert.deepEqual([first.name, second.name], ["snapkeep", "snapkeep-2"]);
      const [earlier = "", later = ""] = order;
      const between = removeEntries(second.text, runIs(earlier));
      const { contexts, "current-context": current } = parse(between);
      const names = contexts.map(({ name }: { readonly name: string }) => name);
      if (current !== "" && current !== undefined) assert.ok(names.includes(current), `${current} of ${names}`);
      assert.equal(removeEntries(between, runIs(later)), text);
    });

test("a user's own entry with the name snapkeep stays unchanged", () => {
  const own = "clusters: []\nusers: []\ncontexts:\n- name: snapkeep\n  context: {cluster: a, user: b}\n";
  const { text, name } = addEntry(own, entryOf("one"));
  assert.equal(name, "snapkeep-2");
  assert.equal(
    removeEntries(text, () => true),
    own,
  );
});

test("the current context stays, except in an empty file, where it is the new one", () => {
  assert.equal(parse(addEntry(threeContexts, entryOf("one")).text)["current-context"], "prod");
  assert.equal(parse(addEntry("", entryOf("one")).text)["current-context"], "snapkeep");
});

/** As kubectl does on `config use-context`: sorted keys, block style, no comments. */
const rewritten = (text: string, current: string): string =>
  stringify({ ...parse(text), "current-context": current }, { sortMapEntries: true });

test("after another program rewrote the file and selected our context, removal keeps the other entries and selects the former context", () => {
  const before = parse(threeContexts);
  const added = addEntry(threeContexts, entryOf("one"));
  const left = parse(removeEntries(rewritten(added.text, added.name), runIs("one")));
  for (const key of ["clusters", "users", "contexts", "current-context"]) assert.deepEqual(left[key], before[key], key);
});

test("entries that the user adds to a created kubeconfig stay", () => {
  const { text } = addEntry("", entryOf("one"));
  const config = JSON.parse(text);
  config.contexts.push({ name: "mine", context: { cluster: "x", user: "y" } });
  const left = parse(removeEntries(JSON.stringify(config), runIs("one")));
  assert.deepEqual(left.contexts, [{ name: "mine", context: { cluster: "x", user: "y" } }]);
  assert.deepEqual([left.clusters ?? [], left.users ?? [], left["current-context"]], [[], [], "mine"]);
});

const refusals: readonly (readonly [string, RegExp])[] = [
  ["clusters: [\n", /line \d is not valid YAML/],
  ["users:\n- token: sesame\n  - x", /line \d is not valid YAML/],
  ["just words", /not a kubeconfig/],
  ["- a\n", /not a kubeconfig/],
  ["kind: Deployment\n", /its kind is "Deployment", not Config/],
  ["clusters: {a: 1}\n", /clusters is not a list/],
  ["a: 1\n---\nb: 2\n", /line \d is not valid YAML/],
  ["x: &a []\nclusters: *a\n", /clusters is not a list/],
];
for (const [text, why] of refusals)
  test(`${JSON.stringify(text)} is rejected without quoting it`, () =>
    assert.throws(
      () => addEntry(text, entryOf("one")),
      (reason: Error) => why.test(reason.message) && !/sesame/.test(reason.message),
    ));
