import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { alertingRule } from "../api/manifests/monitoring.ts";
import { componentRows } from "../api/manifests/rows.ts";
import { parseFlags } from "../runtime/flags.ts";
import { commands } from "./commands.ts";
import { deployFiles, installationOf } from "./deploy.ts";
import { findingsIn } from "./lint/findings.ts";
import { readManifests } from "./lint/manifests.ts";

const installation = installationOf("1.2.3");

for (const row of componentRows)
  for (const container of row.workload.containers) {
    const [component = "", ...argv] = container.args(installation);
    const load = () =>
      commands.find(({ name }) => name === component)?.load() ?? assert.fail(`no command ${component}`);
    const environment = Object.fromEntries((container.env ?? []).map(({ name }) => [name, "set"]));

    test(`container ${container.name} of ${row.name} starts a command that accepts its flags`, async () => {
      const { command } = await load();
      const { options, positionals, warnings } = parseFlags(command.flags, argv, environment);
      assert.deepEqual([command.check?.(options as never, positionals), positionals, warnings], [undefined, [], []]);
    });

    test(`container ${container.name} of ${row.name} serves its status at the port that the probes ask`, async () => {
      const { options } = parseFlags((await load()).command.flags, argv, environment);
      const { httpEndpoint } = options as { readonly httpEndpoint: string };
      const port = container.ports.find(({ name }) => name === container.statusPort)?.containerPort;
      assert.equal(httpEndpoint, `:${port}`);
    });

    test(`container ${container.name} of ${row.name} has more time to stop than it goes on serving`, async () => {
      const { options } = parseFlags((await load()).command.flags, argv, environment);
      const { shutdownDelayDuration = 0 } = options as { readonly shutdownDelayDuration?: number };
      assert.ok(row.workload.terminationGracePeriodSeconds * 1_000 > shutdownDelayDuration + 10_000);
    });

    test(`the mounts of container ${container.name} of ${row.name} hold the files that its flags name`, () => {
      const named = argv.flatMap((flag) => /=(?:unix:\/\/)?(\/.*)/.exec(flag)?.[1] ?? []);
      const mounts = container.volumeMounts(installation).map(({ mountPath }) => mountPath);
      assert.deepEqual(
        named.filter((path) => !mounts.some((mount) => path === mount || path.startsWith(`${mount}/`))),
        [],
      );
    });
  }

test("ports of one pod have names and numbers of their own", () => {
  for (const { workload } of componentRows) {
    const ports = workload.containers.flatMap((container) => container.ports);
    assert.equal(new Set(ports.map(({ name }) => name)).size, ports.length);
    assert.equal(new Set(ports.map(({ containerPort }) => containerPort)).size, ports.length);
  }
});

const everyRule = componentRows.flatMap((row) =>
  [...row.clusterRules, ...row.namespaceRules].map((rule) => ({ row, rule })),
);

test("no right is a wildcard, and no component reads secrets of the whole cluster or changes rights", () => {
  for (const { row, rule } of everyRule) {
    const words = [...rule.verbs, ...(rule.apiGroups ?? []), ...(rule.resources ?? [])];
    assert.ok(!words.includes("*"), `${row.name}: ${words.join(" ")}`);
    for (const verb of ["escalate", "bind", "impersonate"]) assert.ok(!rule.verbs.includes(verb));
  }
  for (const { clusterRules } of componentRows)
    assert.ok(clusterRules.every(({ resources }) => !(resources ?? []).includes("secrets")));
});

test("every right says why it is needed", () => {
  for (const { rule } of everyRule) assert.match(rule.why, /^[A-Z].*\.$/);
});

test("only drivers are exempt from the restricted namespace, and say why", () => {
  const exempt = componentRows.filter(({ workload }) => workload.unrestricted !== undefined);
  for (const row of componentRows) {
    const isPrivileged = row.workload.containers.some((container) => container.isPrivileged === true);
    assert.equal(isPrivileged, exempt.includes(row), row.name);
  }
});

test("the arguments that the requirement document prints start the webhook", async () => {
  const file = join(import.meta.dirname, "../../test/e2e/fixtures/requirement-000/deployment.yaml");
  const [container] = parse(readFileSync(file, "utf8")).spec.template.spec.containers;
  const [component, ...argv] = container.args as string[];
  const { command } = (await commands.find((row) => row.name === component)?.load()) ?? assert.fail();
  const { options, positionals } = parseFlags(command.flags, argv);
  assert.equal(command.check?.(options as never, positionals), undefined);
});

/** Templates of the chart are no YAML before helm has filled them in. */
const isManifest = ([path]: readonly [string, string]): boolean => !path.startsWith("helm/snapkeep/templates/");

test("no expression of a manifest names a namespace, so that kustomize and the chart may choose another one", () => {
  const { namespace, driverNamespace } = installation;
  const files = Object.entries(deployFiles(installation)).filter(([path]) => /\.ya?ml$/.test(path));
  const expressions = files.flatMap(([path, text]) =>
    [...text.matchAll(/^ *(?:expression|messageExpression|rule): (.*)$/gm)].map(
      ([, found = ""]) => `${path}: ${found}`,
    ),
  );
  assert.ok(expressions.some((found) => found.startsWith("kustomize/overlays/webhook-claims/")));
  assert.ok(expressions.some((found) => found.startsWith("helm/snapkeep/templates/webhook.yaml")));
  const names = ["system:serviceaccount:\\w+", namespace, driverNamespace, "Release.Namespace"];
  const withName = expressions.filter((found) =>
    names.some((name) => new RegExp(`\\b${name}\\b(?!\\.dev)`).test(found.replace(/^.*?: /, ""))),
  );
  assert.deepEqual(withName, []);
});

test("lint has nothing to say about the manifests", () => {
  const files = Object.entries(deployFiles(installation))
    .filter(isManifest)
    .map(([path, text]) => ({
      path,
      text,
    }));
  const gates = { anyVolumeDataSource: true, crossNamespace: true };
  assert.deepEqual(findingsIn(readManifests(files), [], gates), []);
});

test("cluster roles and their bindings have names that the replaced programs' manifests do not use", () => {
  const files = Object.entries(deployFiles(installation)).filter(([path]) =>
    /kustomize\/base\/.*rbac\.yaml$/.test(path),
  );
  const named = files.flatMap(([, text]) => [
    ...text.matchAll(/^kind: ClusterRole(?:Binding)?\nmetadata:\n {2}name: (.*)$/gm),
  ]);
  assert.ok(named.length >= 2 * componentRows.length);
  assert.deepEqual(
    named.map(([, name = ""]) => name).filter((name) => !name.startsWith("snapkeep-")),
    [],
  );
});

test("the labels that Prometheus fills into an alert reach it through Helm unchanged", () => {
  const inHelm = (text: string): string => text.replaceAll(/\{\{ `(.*?)` \}\}/g, "$1");
  const files = deployFiles(installation);
  for (const { name, alerts } of componentRows)
    for (const alert of alerts) {
      const { summary } = alertingRule(alert).annotations;
      const template = files[`helm/snapkeep/templates/${name}.yaml`] ?? "";
      assert.ok(inHelm(template).includes(summary), summary);
      assert.ok(!/\$/.test(summary) || !template.includes(summary), `${alert.name}: Helm has no such variable`);
    }
});
