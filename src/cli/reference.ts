/** The pages of docs/reference, printed from the tables that the program itself runs on. */
import { crossNamespaceCrds } from "../api/crds/cross-namespace.ts";
import { groupSnapshotCrds } from "../api/crds/group-snapshots.ts";
import { snapshotCrds } from "../api/crds/index.ts";
import { referenceGrantCrd } from "../api/crds/reference-grant.ts";
import { type KindName, kindRows } from "../api/kinds.ts";
import type { ComponentRights, Right } from "../api/manifests/component.ts";
import { allSidecarRows, componentRows } from "../api/manifests/rows.ts";
import { reasonRows } from "../api/reasons.ts";
import { faults } from "../base/fault.ts";
import { errorCodes, errorRows, remedyOf } from "../errors/codes.ts";
import { policyRows } from "../rules/policy-rows.ts";
import type { CommandModule, CommandRow } from "../runtime/command.ts";
import { exitCodes, signalCodes } from "../runtime/exit-codes.ts";
import { dashed } from "../runtime/flags.ts";
import { defaultText, flagGroups } from "../runtime/help.ts";
import type { MetricTable } from "../runtime/metrics.ts";
import { leaderMetrics, queueMetrics, requestMetrics, waitingMetrics } from "../runtime/metrics.ts";
import { processMetrics } from "../runtime/process-metrics.ts";
import { explanationSchema } from "./explain/schema.ts";
import { usageLine } from "./run.ts";

interface Loaded {
  readonly row: CommandRow;
  readonly command: CommandModule;
}

/** File name → text. */
export async function referencePages(commands: readonly CommandRow[]): Promise<Readonly<Record<string, string>>> {
  const loaded = await Promise.all(commands.map(async (row) => ({ row, command: (await row.load()).command })));
  return {
    "flags.md": flagsPage(loaded),
    "exit-codes.md": exitCodesPage(),
    "faults.md": faultsPage(),
    "errors.md": errorsPage(),
    "kinds.md": kindsPage(),
    "metrics.md": metricsPage(loaded),
    "permissions.md": permissionsPage(),
    "alerts.md": alertsPage(),
    "reasons.md": reasonsPage(),
    "admission-policies.md": policiesPage(),
    "explanation.schema.json": `${JSON.stringify(explanationSchema, undefined, 2)}\n`,
  };
}

const generated = "<!-- Written by `npm run docs` from the tables in src; change those. -->";
const cell = (value: string): string => value.replaceAll("|", "\\|").replaceAll("\n", " ");
const code = (value: string): string => (value === "" ? "" : `\`${value}\``);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const page = (title: string, ...parts: readonly string[]): string =>
  `${[`# ${title}`, generated, ...parts].join("\n\n")}\n`;

const flagsPage = (loaded: readonly Loaded[]): string =>
  page(
    "Commands and flags",
    "Flags are written `--flag=value` or `--flag value`; a switch is `--flag` or `--flag=false`. One dash works like two.",
    ...loaded.map(({ row, command }) => commandSection(row, command)),
  );

function commandSection(row: CommandRow, command: CommandModule): string {
  const examples = command.examples.map(({ does, line }) => `# ${does}\n${line}`).join("\n\n");
  const groups = [...flagGroups(command.flags)].map(([group, rows]) =>
    [
      `**${group}**`,
      table(
        ["flag", "type", "default", "meaning"],
        rows.map(([name, flag]) => [
          [name, ...(flag.short === undefined ? [] : [flag.short])].map((word) => code(dashed(word))).join(", "),
          flag.type,
          code(defaultText(flag)),
          flag.environment === undefined ? flag.help : `${flag.help} Also \`$${flag.environment}\`.`,
        ]),
      ),
    ].join("\n\n"),
  );
  return [`## ${usageLine(row, command)}`, row.summary, `\`\`\`sh\n${examples}\n\`\`\``, ...groups].join("\n\n");
}

const reasonsPage = (): string =>
  page(
    "Reasons",
    "Why a component does what it does with an object. At `--v=4` each decision that differs from the last one of the same object is a line of the log with its reason. Objects that wait are counted in the metric `snapkeep_waiting_objects{component,reason}`. A reconcile that fails is a decision too.",
    table(
      ["reason", "waits", "who acts next", "meaning"],
      Object.entries(reasonRows).map(([name, { waits, actor, means }]) => [
        code(name),
        waits ? "yes" : "no",
        actor,
        means,
      ]),
    ),
  );

const faultsPage = (): string =>
  page(
    "Faults",
    "Every failure is one of these. Final means: the other side reports that it did nothing and is doing nothing. After any other fault the call may still take effect, so it is repeated.",
    table(
      ["fault", "HTTP", "gRPC", "Kubernetes reason", "final", "meaning"],
      Object.entries(faults).map(([name, row]) => [
        code(name),
        String(row.http),
        String(row.grpc),
        row.reason,
        row.final ? "yes" : "no",
        row.meaning,
      ]),
    ),
  );

const exitCodesPage = (): string =>
  page(
    "Exit codes",
    "Exit codes of all commands, and of the npm scripts of this repository.",
    table(
      ["code", "meaning"],
      [
        ...Object.values(exitCodes).map(({ code: value, meaning }) => [code(String(value)), meaning]),
        ...Object.entries(signalCodes).map(([name, value]) => [
          code(String(value)),
          `${name} arrived a second time, and the process ended at once.`,
        ]),
      ],
    ),
  );

const policiesPage = (): string =>
  page(
    "Admission policies",
    "The rules of admission, and the ValidatingAdmissionPolicy that has each; `snapkeep admission-policies --print` writes the policies, generated from the same rows as the webhook. They need Kubernetes 1.30 or newer; those for data sources of claims 1.36.",
    "A policy refuses with status 422 and the reason Invalid; the webhook refuses VolumeSnapshots, VolumeSnapshotContents and VolumeSnapshotClasses with status 400. The policies of shares refuse with 403, as the webhook does; where the ConfigMap of an allow-list is missing, they refuse every share of its kind. Of several broken rules, or volumes, a policy names the first, the webhook all. Otherwise the messages are the same, after the name of the policy; only a value that is long, or not plain text, is called *another text*. A rule that the stored object broke already does not refuse an update: the policy whose name ends in `-broken-before` warns of it.",
    table(
      ["code", "kind", "field", "policy", "why there is none"],
      policyRows.map(({ code: name, kind, field, policy, why }) => [
        `[${name}](errors.md#${name.toLowerCase()})`,
        kind,
        code(field),
        code(policy ?? ""),
        why ?? "",
      ]),
    ),
  );

/** Each code is a heading, so that it is an anchor: errors.md#snap-101. */
const errorsPage = (): string =>
  page(
    "Errors",
    "Messages that users read end in a code in brackets: errors in status.error, events, what the webhook refuses or warns of, and what `snapkeep lint` finds. A code keeps its meaning in every release. `snapkeep errors CODE` prints the page of one.",
    ...errorCodes.toSorted().map((name) => {
      const { title, why } = errorRows[name];
      return `## ${name}\n\n**${title}.** ${why}\n\nWhat to do: ${remedyOf(name)}`;
    }),
  );

const defined = new Set(
  [...snapshotCrds(3), ...groupSnapshotCrds(), referenceGrantCrd(), ...crossNamespaceCrds()].map(
    ({ spec }) => spec.names.kind,
  ),
);

/** Those of the table that are there today: Kubernetes' own, and custom ones that a definition of ours exists for. */
export const servedKinds = (Object.keys(kindRows) as readonly KindName[]).filter(
  (name) => kindRows[name].custom !== true || defined.has(name),
);

const kindsPage = (): string =>
  page(
    "Kinds",
    "The kinds of objects that `snapkeep up` serves, and those among them that the components read and write. `snapkeep crds` prints the definitions of the snapshot kinds; with `--for group-snapshots` it prints those of VolumeGroupSnapshot, -Content and -Class, and with `--for cross-namespace` it prints those of ReferenceGrant, VolumeSnapshotLink and VolumePopulator. A cluster with the Gateway API has ReferenceGrant already.",
    table(
      ["kind", "group", "versions", "resource", "scope", "short names", "status", "definition"],
      servedKinds
        .map((name) => [name, kindRows[name]] as const)
        .map(([name, row]) => [
          name,
          row.group === "" ? "core" : row.group,
          row.versions.join(", "),
          row.plural,
          row.scope,
          row.shortNames?.join(", ") ?? "",
          row.status === true ? "subresource" : "",
          row.custom === true ? "custom resource" : "Kubernetes",
        ]),
    ),
  );

const metricsTable = (metrics: MetricTable): string =>
  table(
    ["metric", "type", "labels", "buckets", "meaning"],
    Object.values(metrics).map((row) => [
      code(row.name),
      row.type,
      row.labels.join(", "),
      row.buckets?.join(" ") ?? "",
      row.help,
    ]),
  );

const metricsPage = (loaded: readonly Loaded[]): string =>
  page(
    "Metrics",
    "Served at `--http-endpoint` under `--metrics-path`, with the names of the replaced programs, so that dashboards and alerts keep working.",
    "## Every component",
    metricsTable({
      ...prefixed("queue", queueMetrics),
      ...waitingMetrics,
      ...prefixed("request", requestMetrics),
      ...leaderMetrics,
      ...processMetrics,
    }),
    ...loaded.flatMap(({ row, command }) =>
      command.metrics === undefined ? [] : [`## ${row.name}`, metricsTable(command.metrics)],
    ),
  );

const prefixed = (prefix: string, metrics: MetricTable): MetricTable =>
  Object.fromEntries(Object.entries(metrics).map(([key, row]) => [`${prefix}.${key}`, row]));

const everything = { topology: true, attachments: true, capacity: true, nodeDeployment: true };

const permissionsPage = (): string =>
  page(
    "Permissions",
    "What each component may do, and why. `snapkeep install` grants these rights and no others. No right is a wildcard, and no component may read all secrets of a cluster. Each single right is needed: [this table](../results/rbac.txt) names the check that fails without it.",
    ...componentRows.map((row) => accessSection(row.name, row.workload.unrestricted, row)),
    "Sidecars run in the pod of a driver, with rights of the driver's service account. `DRIVER` is the name of the driver in lease names. `csi-sidecars` needs the rights of the controllers that it runs; one that lacks a right waits for it, and the others go on.",
    ...allSidecarRows.map((row) => accessSection(row.name, undefined, row.rights("DRIVER", everything))),
  );

function accessSection(name: string, unrestricted: string | undefined, access: ComponentRights): string {
  const rows = (rights: readonly Right[], place: string) =>
    rights.map((right) => [
      (right.resources ?? []).map((resource) => code(qualified(resource, right))).join(" "),
      right.verbs.join(", "),
      (right.resourceNames ?? []).map(code).join(" "),
      right.namespace ?? place,
      right.why,
    ]);
  const all = [...rows(access.clusterRules, "all"), ...rows(access.namespaceRules, "its own")];
  const distinct = [...new Map(all.map((row) => [row.join("\n"), row])).values()];
  const pods =
    unrestricted === undefined
      ? 'Its pods are admitted under the Pod Security Standard "restricted".'
      : `Its pods are not admitted under the Pod Security Standard "restricted". ${unrestricted}`;
  return [`## ${name}`, pods, table(["resource", "verbs", "names", "namespaces", "why"], distinct)].join("\n\n");
}

const qualified = (resource: string, { apiGroups = [] }: Right): string =>
  apiGroups[0] === "" ? resource : `${resource}.${apiGroups[0]}`;

const alertsPage = (): string =>
  page(
    "Alerts",
    "Rules of `deploy/monitoring/alerts.yaml`, and of the PrometheusRules that are installed. [Monitoring](../guides/monitoring.md) says how to turn them on.",
    ...componentRows.flatMap(({ alerts }) =>
      alerts.map((alert) =>
        [
          `## ${alert.name}`,
          `**${alert.summary}** Severity ${alert.severity}, after ${alert.for}.`,
          `What to do: ${alert.remedy}`,
          `\`\`\`promql\n${alert.expression}\n\`\`\``,
        ].join("\n\n"),
      ),
    ),
  );
