import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { parse, stringify } from "yaml";
import { startCommand } from "../../../test/command-line.ts";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { command as lintCommand } from "../commands/lint.ts";
import { findingsIn } from "./findings.ts";
import { readManifests } from "./manifests.ts";

const gates = { anyVolumeDataSource: true, crossNamespace: true };

/** "line code" of each finding. */
const found = (text: string, old = ""): readonly string[] =>
  findingsIn(
    readManifests([{ path: "f.yaml", text }]),
    readManifests([{ path: "f.yaml", text: old }]).manifests,
    gates,
  ).map(({ line, code, severity }) => `${line} ${code}${severity === "warning" ? " warning" : ""}`);

const snapshot = (spec: string): string =>
  `apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshot\nmetadata: { name: monday, namespace: team }\nspec:\n  ${spec}\n`;
const ofClaim = snapshot("source: { persistentVolumeClaimName: data }");
const ofNothing = snapshot("source: {}");

const claim = (source: string): string =>
  `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: data }\nspec:\n  dataSource: ${source}\n`;

const statefulSet = (name: string, kind: string): string =>
  `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: ${name} }\nspec:\n  volumeClaimTemplates:\n  - metadata: { name: data }\n    spec:\n      dataSource: { kind: ${kind}, name: s }\n`;
const inList = (...texts: readonly string[]): string =>
  stringify({ apiVersion: "v1", kind: "List", items: texts.map((text) => parse(text)) });

const cases: readonly { given: string; text: string; old?: string; finds: readonly string[] }[] = [
  { given: "a valid snapshot", text: ofClaim, finds: [] },
  { given: "a snapshot without a source", text: ofNothing, finds: ["5 SNAP-101"] },
  { given: "the second of two documents", text: `${ofClaim}---\n${ofNothing}`, finds: ["11 SNAP-101"] },
  { given: "helm's comments and empty documents", text: `---\n# Source: x\n---\n${ofNothing}`, finds: ["8 SNAP-101"] },
  { given: "a mistake that is there already", text: ofNothing, old: ofNothing, finds: ["5 SNAP-101 warning"] },
  {
    given: "another source than before",
    text: snapshot("source: { persistentVolumeClaimName: other }"),
    old: ofClaim,
    finds: ["5 SNAP-102"],
  },
  {
    given: "another source in another version of the API",
    text: snapshot("source: { persistentVolumeClaimName: other }"),
    old: ofClaim.replace("/v1", "/v1beta1"),
    finds: ["5 SNAP-102"],
  },
  {
    given: "an item of a List, as JSON",
    text: JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: [
        {
          apiVersion: "snapshot.storage.k8s.io/v1",
          kind: "VolumeSnapshot",
          metadata: { name: "s" },
          spec: { source: {} },
        },
      ],
    }),
    finds: ["1 SNAP-101"],
  },
  { given: "a claim from a ConfigMap", text: claim("{ kind: ConfigMap, name: m }"), finds: ["5 SNAP-131"] },
  {
    given: "a claim from a snapshot without its group",
    text: claim("{ kind: VolumeSnapshot, name: s }"),
    finds: ["5 SNAP-131"],
  },
  {
    given: "a claim whose group holds a version",
    text: claim("{ apiGroup: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, name: s }"),
    finds: ["5 SNAP-135"],
  },
  {
    given: "a claim template of a StatefulSet",
    text: `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: db }\nspec:\n  volumeClaimTemplates:\n  - metadata: { name: data }\n    spec:\n      dataSource: { kind: Secret, name: s }\n`,
    finds: ["8 SNAP-131"],
  },
  {
    given: "an ephemeral volume of a CronJob",
    text: `apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          volumes:\n          - name: x\n            ephemeral:\n              volumeClaimTemplate:\n                spec:\n                  dataSource: { kind: Secret, name: s }\n`,
    finds: ["13 SNAP-131"],
  },
  {
    given: "a ReferenceGrant as the requirement document writes it",
    text: `apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: { name: g }\nspec:\n  from:\n  - kind: PersistentVolumeClaim\n    namespace: ns1\n  to:\n  - group: snapshot.storage.k8s.io/v1\n    kind: VolumeSnapshot\n`,
    finds: ["6 SNAP-402", "9 SNAP-401"],
  },
  {
    given: "a ReferenceGrant that names resources",
    text: `apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: { name: g }\nspec:\n  from:\n  - { group: "", kind: persistentvolumeclaims, namespace: a }\n  to:\n  - { group: snapshot.storage.k8s.io, kind: VolumeSnapshot }\n`,
    finds: ["6 SNAP-403"],
  },
  {
    given: "two default classes of one driver",
    text: ["gold", "silver"]
      .map(
        (name) =>
          `apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshotClass\nmetadata:\n  name: ${name}\n  annotations: { snapshot.storage.kubernetes.io/is-default-class: "true" }\ndriver: d.example\ndeletionPolicy: Delete\n`,
      )
      .join("---\n"),
    finds: ["13 SNAP-121"],
  },
  {
    given: "a class for backups that deletes",
    text: `apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshotClass\nmetadata:\n  name: backups\n  labels: { velero.io/csi-volumesnapshot-class: "true" }\ndriver: d.example\ndeletionPolicy: Delete\n`,
    finds: ["7 SNAP-122 warning"],
  },
  {
    given: "a claim smaller than its snapshot",
    text: `${snapshot("source: { persistentVolumeClaimName: data }")}status: { restoreSize: 2Gi }\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: c, namespace: team }\nspec:\n  resources: { requests: { storage: 1Gi } }\n  dataSource: { apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: monday }\n`,
    finds: ["12 SNAP-136"],
  },
  {
    given: "the field that the requirement document invents for claims",
    text: `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: foo }\nspec:\n  dataSourceRef2:\n    apiGroup: snapshot.storage.k8s.io/v1\n    kind: VolumeSnapshot\n    name: foo-backup\n    namespace: prod\n`,
    finds: ["6 SNAP-137"],
  },
  {
    given: "a ReferenceGrant for links as the requirement document writes it",
    text: `apiVersion: gateway.networking.k8s.io/v1alpha2\nkind: ReferenceGrant\nmetadata: { name: g }\nspec:\n  from:\n  - group: snapshot.storage.k8s.io/v1alpha1\n    kind: VolumeSnapshotLink\n    namespace: test\n  to:\n  - group: snapshot.storage.k8s.io/v1\n    kind: VolumeSnapshot\n`,
    finds: ["6 SNAP-401", "10 SNAP-401"],
  },
  {
    given: "a claim from a link as the requirement document writes it",
    text: `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: c }\nspec:\n  dataSourceRef:\n    apiGroup: snapshot.storage.k8s.io/v1alpha1\n    kind: VolumeSnapshotLink\n    name: foo-link\n`,
    finds: ["6 SNAP-135"],
  },
  {
    given: "a webhook configuration as the requirement document for snapshots prints it",
    text: readFileSync(
      join(import.meta.dirname, "../../../test/e2e/fixtures/requirement-000/configuration.yaml"),
      "utf8",
    ),
    finds: ["9 SNAP-142 warning", "18 SNAP-143"],
  },
  {
    given: "webhook rules as the requirement document for shared resources prints them",
    text: `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nwebhooks:\n- rules:\n  - operations: [CREATE]\n    apiGroups: []\n    apiVersions: []\n    resources: [pods]\n  - operations: [CREATE]\n    apiGroups: [apps]\n    apiVersions: [v1]\n    resources: [deployments, daemonset]\n`,
    finds: ["6 SNAP-141", "7 SNAP-141", "12 SNAP-141"],
  },
  {
    given: "the list of operations with a quote missing, as that document prints it",
    text: 'webhooks:\n- rules:\n  - operations: [ "CREATE, "UPDATE" ]\n    resources: [ "deploymentconfigs" ]\n',
    finds: ["3 SNAP-192"],
  },
  {
    given: "a shared volume without readOnly in a Deployment, and one with it",
    text: `apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      volumes:\n      - name: a\n        csi:\n          driver: csi.sharedresource.openshift.io\n      - name: b\n        csi: { driver: csi.sharedresource.openshift.io, readOnly: true }\n`,
    finds: ["9 SNAP-151"],
  },
  {
    given: "shares with a reserved prefix, and the platform's own",
    text: [
      "kind: SharedConfigMap\nmetadata: { name: openshift-foo }",
      "kind: SharedSecret\nmetadata: { name: openshift-etc-pki-entitlement }\nspec: { secretRef: { namespace: openshift-config-managed, name: etc-pki-entitlement } }",
      "kind: SharedSecret\nmetadata: { name: openshift-etc-pki-entitlement }\nspec: { secretRef: { namespace: other, name: etc-pki-entitlement } }",
      "kind: SharedSecret\nmetadata: { name: openshiftish }",
    ]
      .map((text) => `apiVersion: sharedresource.openshift.io/v1alpha1\n${text}\n`)
      .join("---\n"),
    // A share without spec refers to nothing, and its CRD refuses it.
    finds: ["1 SNAP-195", "3 SNAP-152", "13 SNAP-152", "15 SNAP-195"],
  },
  {
    given: "a share that the allow-list among the manifests has, and an entry that cannot be read",
    text: [
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ocp-sharedsecret-list }\ndata:\n  openshift-mine: team:keys\n  openshift-bad: team\n",
      "apiVersion: sharedresource.openshift.io/v1alpha1\nkind: SharedSecret\nmetadata: { name: openshift-mine }\nspec: { secretRef: { namespace: team, name: keys } }\n",
      "apiVersion: sharedresource.openshift.io/v1alpha1\nkind: SharedSecret\nmetadata: { name: openshift-bad }\nspec: { secretRef: { namespace: team, name: keys } }\n",
    ].join("---\n"),
    finds: ["5 SNAP-153", "15 SNAP-152"],
  },
  {
    given: "a writable shared volume that is there already, and a new one",
    text: `apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec:\n  volumes:\n  - name: b\n    csi: { driver: csi.sharedresource.openshift.io }\n  - name: a\n    csi: { driver: csi.sharedresource.openshift.io }\n`,
    old: `apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec:\n  volumes:\n  - name: a\n    csi: { driver: csi.sharedresource.openshift.io }\n`,
    finds: ["7 SNAP-151", "9 SNAP-151 warning"],
  },
  {
    given: "a writable shared volume of a BuildConfig",
    text: `apiVersion: build.openshift.io/v1\nkind: BuildConfig\nmetadata: { name: p }\nspec:\n  strategy:\n    dockerStrategy:\n      volumes:\n      - name: a\n        source:\n          type: CSI\n          csi:\n            driver: csi.sharedresource.openshift.io\n`,
    finds: ["12 SNAP-151"],
  },
  {
    given: "a template of a StatefulSet that is smaller than the snapshot in its namespace",
    text: `apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshot\nmetadata: { name: s, namespace: team }\nspec: { source: { persistentVolumeClaimName: data } }\nstatus: { restoreSize: 2Gi }\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: db, namespace: team }\nspec:\n  volumeClaimTemplates:\n  - spec:\n      dataSource: { apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: s }\n      resources: { requests: { storage: 1Gi } }\n`,
    finds: ["14 SNAP-136"],
  },
  {
    given: "a template whose mistake another StatefulSet had before",
    text: statefulSet("new", "Secret"),
    old: statefulSet("old", "Secret"),
    finds: ["8 SNAP-131"],
  },
  {
    given: "a template whose mistake is there already",
    text: statefulSet("db", "Secret"),
    old: `${statefulSet("db", "Secret")}---\n${statefulSet("other", "PersistentVolumeClaim")}`,
    finds: [],
  },
  {
    given: "a mistake that is there already, at another place of a List",
    text: inList(ofNothing),
    old: inList(ofClaim.replace("monday", "tuesday"), ofNothing),
    finds: ["10 SNAP-101 warning"],
  },
  {
    given: "a stored claim whose source kubectl remembers",
    text: JSON.stringify({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name: "c",
        annotations: {
          "kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"dataSource":{"kind":"ConfigMap","name":"m"}}}',
        },
      },
      spec: {},
    }),
    finds: ["1 SNAP-138 warning"],
  },
  {
    given: "a stored claim whose source only the managed fields remember",
    text: `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: c\n  managedFields:\n  - fieldsV1: { "f:spec": { "f:dataSourceRef": { } } }\nspec: {}\n`,
    finds: ["7 SNAP-138 warning"],
  },
  {
    given: "stored claims that have the source they were written with, or never had one",
    text: [
      `metadata:\n  name: c\n  managedFields:\n  - fieldsV1: { "f:spec": { "f:dataSource": { } } }\nspec: { dataSource: { kind: PersistentVolumeClaim, name: c } }`,
      `metadata:\n  name: d\n  annotations: { kubectl.kubernetes.io/last-applied-configuration: "{" }\n  managedFields: [{ fieldsV1: { "f:spec": {} } }]`,
    ]
      .map((text) => `apiVersion: v1\nkind: PersistentVolumeClaim\n${text}\n`)
      .join("---\n"),
    finds: [],
  },
  { given: "a template that was not rendered", text: "a: {{ .Values.x }}\nb: [", finds: ["2 SNAP-192"] },
  {
    given: "objects of other kinds, and documents that are not objects",
    text: "kind: Pod\n---\n5\n---\n[]\n",
    finds: [],
  },
];

for (const { given, text, old, finds } of cases)
  test(`given ${given}, lint finds ${finds.join(", ") || "nothing"}`, () => assert.deepEqual(found(text, old), finds));

const lint = async (...argv: readonly string[]) => {
  const { said, code } = startCommand("lint", ...argv);
  return { code: await code, said };
};

test("lint exits with 1 for findings or unreadable files, 0 without findings, and 2 for wrong usage", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "good.yaml"), ofClaim);
  mkdirSync(join(folder, "more"));
  writeFileSync(join(folder, "more", "bad.yml"), ofNothing);
  writeFileSync(join(folder, "notes.txt"), "{{{");
  const good = await lint(join(folder, "good.yaml"));
  assert.deepEqual([good.code, good.said.out], [0, "1 object in 1 file: 0 errors, 0 warnings\n"]);
  const bad = await lint(folder);
  assert.equal(bad.code, 1);
  assert.match(
    bad.said.out,
    /more\/bad\.yml:5: error: VolumeSnapshot team\/monday: spec\.source: .*\[SNAP-101\]\n2 objects/,
  );
  assert.equal((await lint()).code, 2);
  const missing = await lint(join(folder, "none.yaml"));
  assert.equal(missing.code, 1);
  assert.match(missing.said.error, /none\.yaml cannot be read \(ENOENT\)/);
});

test("the first example of lint --help is good in this repository, and names the chart whose templates are not rendered", async () => {
  const root = resolve(import.meta.dirname, "../../..");
  const [example] = lintCommand.examples;
  const [program, name, folder = ""] = (example?.line ?? "").split(" ");
  assert.deepEqual([program, name], ["snapkeep", "lint"]);
  const { said, code } = startCommand("lint", join(root, folder));
  assert.equal(await code, 0, said.text);
  assert.match(said.out, /^\d+ objects in \d+ files: 0 errors, 0 warnings\n$/);
  assert.match(
    said.error,
    /^the templates of the Helm chart \S+\/deploy\/helm\/snapkeep are left out: render them with "helm template /,
  );
});

test("only the templates of a chart are left out: other folders of that name are linted, and so is the rest of the chart", async (t) => {
  const folder = temporaryFolder(t);
  const files = {
    "templates/a.yaml": ofNothing,
    "chart/Chart.yaml": "name: c\n",
    "chart/crds/b.yaml": ofNothing,
    "chart/templates/c.yaml": "{{ x }}: [",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { said, code } = startCommand("lint", "-o=json", folder);
  assert.equal(await code, 1);
  const { findings } = JSON.parse(said.out) as { findings: readonly { file: string; code: string }[] };
  assert.deepEqual(findings.map((finding) => [relative(folder, finding.file), finding.code]).sort(), [
    ["chart/crds/b.yaml", "SNAP-101"],
    ["templates/a.yaml", "SNAP-101"],
  ]);
  assert.ok(said.error.includes(`helm template ${join(folder, "chart")} |`));
});

test("the JSON, SARIF and GitHub formats have rule, file and line", async (t) => {
  const file = join(temporaryFolder(t), "bad.yaml");
  writeFileSync(file, ofNothing);
  const json = JSON.parse((await lint("-o", "json", file)).said.out);
  assert.deepEqual([json.findings[0].code, json.findings[0].line], ["SNAP-101", 5]);
  const sarif = JSON.parse((await lint("-o", "sarif", file)).said.out).runs[0];
  assert.equal(sarif.results[0].ruleId, sarif.tool.driver.rules[0].id);
  assert.equal(sarif.results[0].locations[0].physicalLocation.region.startLine, 5);
  assert.match(
    (await lint("-o", "github", file)).said.out,
    /^::error file=.*bad\.yaml,line=5,title=SNAP-101::VolumeSnapshot/,
  );
});

test("old manifests come from a folder or from a git revision", async (t) => {
  const folder = temporaryFolder(t);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.com", ...args]);
  const file = join(folder, "s.yaml");
  writeFileSync(file, ofClaim);
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "old");
  writeFileSync(file, snapshot("source: { persistentVolumeClaimName: other }"));
  const old = temporaryFolder(t);
  writeFileSync(join(old, "any-name.yaml"), ofClaim);
  assert.match((await lint(`--old=${old}`, file)).said.out, /SNAP-102/);
  assert.match((await lint("--old=HEAD", file)).said.out, /SNAP-102/);
  const unknown = await lint("--old=nowhere", file);
  assert.equal(unknown.code, 1);
  assert.match(unknown.said.error, /neither a folder nor a git revision/);
});

test("1,000 manifests cost less than 2 s of the processor", async (t) => {
  const folder = temporaryFolder(t);
  for (let index = 0; index < 500; index++) {
    writeFileSync(join(folder, `snapshot-${index}.yaml`), ofClaim.replace("monday", `s-${index}`));
    writeFileSync(join(folder, `set-${index}.yaml`), statefulSet(`db-${index}`, "Secret"));
  }
  const before = process.cpuUsage();
  const { said } = await lint(folder);
  const { user, system } = process.cpuUsage(before);
  assert.match(said.out, /\n1500 objects in 1000 files: 500 errors, 0 warnings\n$/);
  assert.ok(user + system < 2e6, `it took ${(user + system) / 1e6} s`);
});
