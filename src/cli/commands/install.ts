/** `snapkeep install`: the components in a cluster, from the same rows as deploy/. */

import type { Installation, ManifestObject } from "../../api/manifests/component.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { printableLine } from "../../base/printable.ts";
import { type PolicySubject, policySubjects } from "../../rules/policy-rows.ts";
import { type CommandInput, complaintOf, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { bool, duration, list, oneOf, text } from "../../runtime/flag-kinds.ts";
import { parseFlags } from "../../runtime/flags.ts";
import { connected } from "../connected.ts";
import { installationOf, yamlDocuments } from "../deploy.ts";
import { admissionModes, componentsFor, policyObjects, subjectsFor, unservedPolicies } from "../install/admission.ts";
import { applyAll } from "../install/apply.ts";
import { certificateModes, certificateObjects, certificatesOf, unservedCertificates } from "../install/certificates.ts";
import { findDrift } from "../install/drift.ts";
import type { Drift, DriftPlan } from "../install/drift-plan.ts";
import { findProblems } from "../install/health.ts";
import type { Health } from "../install/health-plan.ts";
import { parseImage } from "../install/image.ts";
import { joinArguments } from "../install/joined-arguments.ts";
import { withJoinedSidecars } from "../install/joined-sidecars.ts";
import { createResources, type Resources } from "../install/resources.ts";
import { waitUntilReady } from "../install/rollout.ts";
import {
  defaultComponents,
  describe,
  type InstallPlan,
  isKept,
  objectsOf,
  planFor,
  refusesUntilReady,
  selectionProblem,
} from "../install/selection.ts";
import { type SidecarChange, withSidecars, workloadRef } from "../install/sidecar.ts";
import { uninstallAll } from "../install/uninstall.ts";
import { isOfUp, upNote } from "../install/up-cluster.ts";
import { createProgress } from "../progress.ts";

const action = { group: "Action" } as const;

const flags = {
  ...kubeFlags,
  print: bool({ ...action, default: false, help: "Write the manifests to standard output. Needs no cluster." }),
  apply: bool({
    ...action,
    default: false,
    help: "Apply the manifests, create the webhook's certificates, and wait until everything is ready.",
  }),
  diff: bool({ ...action, default: false, help: "Print what --apply would change." }),
  check: bool({
    ...action,
    default: false,
    help: "Like --diff, and whether it works: pods that are not ready with their own reasons, leases that none of our pods holds, and the webhook's certificate. Exit with 1 if anything is wrong.",
  }),
  uninstall: bool({
    ...action,
    default: false,
    help: "Delete what --apply has created in this namespace: webhook configurations first, then pods, then the rest. Objects of other installations, CustomResourceDefinitions and data stay; the output names them.",
  }),
  dryRun: bool({ default: false, help: "With --uninstall: only print what would be deleted, and what stays." }),
  adopt: bool({
    default: false,
    help: "With --apply: take over objects that belong to another installation or to somebody else. Without it they are named and nothing is changed.",
  }),
  keepCrds: bool({
    default: false,
    help: "With --apply: leave the stored CustomResourceDefinitions as they are, in whatever phase of snapkeep migrate.",
  }),
  admissionClaims: bool({
    default: false,
    help: "Also install the webhook configuration that checks the data sources of claims, once the webhook is ready. While the webhook is down, claims with a data source are refused. With --admission=policies, the policies for them (Kubernetes 1.36 or newer). An installation that has it keeps it without this flag.",
  }),
  admission: oneOf(admissionModes, {
    default: "webhook",
    help: "Who enforces the rules for snapshots: the webhook, the API server with ValidatingAdmissionPolicies (Kubernetes 1.30 or newer; the webhook is not installed), or both. An installation that has policies keeps them without this flag.",
  }),
  certificates: oneOf(certificateModes, {
    default: "auto",
    help: "Who renews the webhook's certificate and writes each caBundle: the webhook itself (self), or cert-manager, which the cluster must have. auto: as it is installed, and self at first.",
  }),
  components: list({
    default: defaultComponents,
    help: "Components to install.",
  }),
  namespace: text({
    short: "n",
    default: "snapkeep",
    required: true,
    help: "Namespace of the components. Drivers run in a second one, named after it with -drivers, because their pods are privileged.",
  }),
  image: text({
    default: "snapkeep",
    required: true,
    example: "registry.example.com/snapkeep",
    help: "Image, with or without a tag; without one the tag is the version of this program. Drivers run the image whose tag ends in -driver.",
  }),
  kubeletDir: text({
    default: "/var/lib/kubelet",
    required: true,
    help: "The kubelet's folder on the nodes, for drivers.",
  }),
  into: text({
    default: "",
    example: "deployment/my-driver",
    help: "With sidecar: the workload of a CSI driver in --namespace, as deployment/NAME, statefulset/NAME or daemonset/NAME.",
  }),
  separate: bool({
    default: false,
    help: "With sidecar: a container for each sidecar, as upstream's manifests have. Otherwise one csi-sidecars takes the place of both, which needs less memory.",
  }),
  timeout: duration({
    default: 300_000,
    min: 1_000,
    help: "How long --apply waits until everything is ready, and --uninstall until the pods have ended.",
  }),
  output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format of --diff and --check." }),
} as const;

type Input = CommandInput<typeof flags>;
const actions = ["print", "apply", "diff", "check", "uninstall"] as const;

export const command = defineCommand({
  takes: "[sidecar]",
  flags,
  examples: [
    { does: "Install the snapshot-controller and the webhook", line: "snapkeep install --apply" },
    { does: "See what an upgrade would change", line: "snapkeep install --diff" },
    {
      does: "Write manifests for Git",
      line: "snapkeep install --print --components=snapshot-controller > snapkeep.yaml",
    },
    {
      does: "Also install a CSI driver over plain directories, on a cluster of one node",
      line: "snapkeep install --apply --components=snapshot-controller,webhook,directory-driver",
    },
    {
      does: "Replace the sidecars of a driver by csi-sidecars, or add it, with the same flags and socket",
      line: "snapkeep install sidecar --into=deployment/my-driver --namespace=storage --diff",
    },
    {
      does: "Also check the data sources of claims, once the webhook is ready",
      line: "snapkeep install --apply --admission-claims",
    },
    {
      does: "Leave the webhook's certificate to cert-manager",
      line: "snapkeep install --apply --certificates=cert-manager",
    },
    { does: "Install without a webhook", line: "snapkeep install --apply --admission=policies" },
    { does: "Fail in CI if the cluster differs", line: "snapkeep install --check" },
    { does: "See what an uninstallation would delete", line: "snapkeep install --uninstall --dry-run" },
  ],
  check: (options, [first, ...others]) => {
    if ((first !== undefined && first !== "sidecar") || others.length > 0)
      return `unexpected argument ${JSON.stringify(others[0] ?? first)}; there is "sidecar"`;
    if ((first === "sidecar") !== (options.into !== "") || isWithoutDriver(options))
      return "sidecar and --into go together; for example snapkeep install sidecar --into=deployment/my-driver --diff";
    if (options.into !== "" && workloadRef(options.into, "") === undefined)
      return `--into: ${JSON.stringify(options.into)} is no workload; expected deployment/NAME, statefulset/NAME or daemonset/NAME`;
    if (options.into !== "" && (options.uninstall || options.check))
      return "sidecar goes with --print, --diff or --apply; to go back, apply the driver's own manifest again";
    const given = actions.filter((name) => options[name]);
    if (given.length !== 1)
      return `give one of ${actions.map((name) => `--${name}`).join(", ")}; for example snapkeep install --diff`;
    const image = parseImage(options.image, "0");
    if (image.kind === "wrong") return `--image: ${image.why}`;
    if (options.dryRun && !options.uninstall)
      return "--dry-run goes with --uninstall; --diff shows what --apply would change";
    if (options.admissionClaims && options.admission !== "policies" && !options.components.includes("webhook"))
      return "--admission-claims needs the webhook among --components; it checks the claims";
    if ((options.adopt || options.keepCrds) && !options.apply) return "--adopt and --keep-crds go with --apply";
    return selectionProblem(componentsFor(options.admission, options.components));
  },
  run: async (input) => {
    const { options, version, out } = input;
    if (options.into !== "") return intoDriver(input);
    const installation = installationOf(version, {
      namespace: options.namespace,
      ...imageOf(options.image, version),
      kubeletFolder: options.kubeletDir.replace(/\/+$/, ""),
    });
    if (!options.print) return inCluster(input, installation);
    const { admission, admissionClaims: claims } = options;
    const names = componentsFor(admission, options.components);
    const certificates = certificatesOf(options.certificates, undefined, installation);
    const policies = subjectsFor(admission, names, { claims });
    const plan = planFor(names, { ...installation, certificates }, { claims, policies });
    out.write(yamlDocuments(objectsOf(plan)));
    return 0;
  },
});

/** check has refused what is wrong. */
function imageOf(given: string, version: string): { readonly repository: string; readonly tag: string } {
  const image = parseImage(given, version);
  return image.kind === "image" ? image : { repository: given, tag: version };
}
const imageText = (given: string, version: string): string => {
  const { repository, tag } = imageOf(given, version);
  return `${repository}:${tag}`;
};

const inCluster = (input: Input, installation: Installation): Promise<number> =>
  connected("snapkeep-install", input, {}, async (api) => {
    const { options, world, signal, out, error } = input;
    const resources = createResources(api, signal);
    const plan = await plannedFor(options, installation, resources);
    const say = (line: string) => void out.write(printableLine(line));
    const waiting = { world, signal, msMax: options.timeout, progress: createProgress(world, error) };
    const { adopt: adopts, keepCrds: keepsCrds, dryRun: isDryRun } = options;
    if (options.uninstall) await uninstallAll(plan, { resources, waiting, say, isDryRun });
    else if (options.apply) await applyAll(plan, { api, resources, waiting, say, adopts, keepsCrds });
    else if (await runsInUp(resources)) return showUp(input);
    else {
      const health = options.check
        ? await findProblems(plan, { api, resources, nowMs: world.now(), signal })
        : { problems: [], notes: [] };
      return showFindings(input, await findDrift(plan, resources), health);
    }
    return 0;
  });

const validation: ManifestObject = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: snapshotConfigurationName },
};

const runsInUp = async ({ read }: Pick<Resources, "read">): Promise<boolean> => isOfUp(await read(validation));

/**
 * What is stored of the configuration for claims is kept in step with the webhook that it asks, and stored policies with the controller: they
 * come with it, and go with it.
 */
async function plannedFor(
  { components, admission, admissionClaims, certificates }: Input["options"],
  chosen: Installation,
  { read, serves }: Resources,
): Promise<InstallPlan> {
  const stored = await read(validation);
  const installation = { ...chosen, certificates: certificatesOf(certificates, stored, chosen) };
  const names = componentsFor(admission, components);
  const isStored = async (objects: readonly ManifestObject[]): Promise<boolean> =>
    (await Promise.all(objects.map(read))).some((found) => isKept(found, installation));
  const wanted = subjectsFor(admission, names, { claims: admissionClaims });
  for (const policy of policyObjects(installation.namespace, wanted))
    if (!(await serves(policy))) throw new Fault("FailedPrecondition", unservedPolicies(policy.kind));
  const policies: PolicySubject[] = [];
  for (const subject of policySubjects) {
    const mayStay = names.includes("snapshot-controller");
    if (wanted.includes(subject) || (mayStay && (await isStored(policyObjects(installation.namespace, [subject])))))
      policies.push(subject);
  }
  const whole = planFor(names, installation, { claims: true });
  for (const object of certificates === "cert-manager" ? certificateObjects(whole) : [])
    if (!(await serves(object))) throw new Fault("FailedPrecondition", unservedCertificates(object.kind));
  const claims = admissionClaims || (await isStored(whole.objects.filter(refusesUntilReady)));
  return planFor(names, installation, { claims, policies });
}

const isWithoutDriver = ({ separate, into }: Input["options"]): boolean => separate && into === "";

const intoDriver = (input: Input): Promise<number> =>
  connected("snapkeep-install", input, {}, async (api) => {
    const { options, version, world, signal, out, error } = input;
    const resources = createResources(api, signal);
    const ref = workloadRef(options.into, options.namespace) as ManifestObject;
    const image = imageText(options.image, version);
    const planned = async (): Promise<SidecarChange> => {
      const stored = await resources.read(ref);
      if (stored === undefined)
        throw new Fault("NotFound", `${describe(ref)} does not exist; name it with --into and --namespace`);
      return options.separate ? withSidecars(stored, image, await flagChecker()) : joinedInto(stored, image);
    };
    const { workload, changes } = await planned();
    if (options.print) out.write(yamlDocuments([workload as unknown as ManifestObject]));
    else for (const line of changes.length === 0 ? ["nothing changes"] : changes) out.write(printableLine(line));
    if (!options.apply || changes.length === 0) return 0;
    await replaceAsPlanned(resources, workload, planned);
    const waiting = { world, signal, msMax: options.timeout, progress: createProgress(world, error) };
    await waitUntilReady(resources, [ref], waiting);
    out.write(printableLine(`${describe(ref)} is ready`));
    return 0;
  });

/** A workload has a controller that writes its status: what was read may be old a moment later. */
async function replaceAsPlanned(
  resources: Resources,
  workload: JsonObject,
  planned: () => Promise<SidecarChange>,
): Promise<void> {
  let next = workload;
  for (let conflicts = 0; ; conflicts++)
    try {
      return await resources.replace(next);
    } catch (reason) {
      if (!isFault(reason, "Conflict") || conflicts === conflictsMax) throw reason;
      next = (await planned()).workload;
    }
}
const conflictsMax = 10;

async function joinedInto(stored: JsonObject, image: string): Promise<SidecarChange> {
  const { joinedFlags } = await import("./csi-sidecars.ts");
  return withJoinedSidecars(stored, image, await flagChecker(), (parts) => joinArguments(joinedFlags, parts));
}

/** Why a command refuses its arguments, before a pod would. */
async function flagChecker(): Promise<(name: string, argv: readonly string[]) => string | undefined> {
  const loaded = new Map([
    ["csi-snapshotter", (await import("./csi-snapshotter.ts")).command],
    ["csi-provisioner", (await import("./csi-provisioner.ts")).command],
    ["csi-sidecars", (await import("./csi-sidecars.ts")).command],
  ]);
  return (name, argv) =>
    complaintOf(() => {
      const command = loaded.get(name);
      if (command === undefined) return;
      const { options, positionals } = parseFlags(command.flags, argv, { NODE_NAME: "node" });
      const problem = command.check?.(options, positionals);
      if (problem !== undefined) throw new Fault("InvalidArgument", problem);
    });
}

function driftLines({ object, changes, owner, problem }: Drift): readonly string[] {
  if (owner !== undefined) return [`! ${object}: belongs to ${owner}`];
  if (problem !== undefined) return [`! ${object}: ${problem}`];
  return changes === undefined ? [`+ ${object}`] : [`~ ${object}`, ...changes.map((line) => `    ${line}`)];
}

function showFindings({ options, out }: Input, drift: DriftPlan, health: Health): number {
  const { drifts } = drift;
  const { problems } = health;
  const notes = [...drift.notes, ...health.notes];
  if (options.output === "json") out.write(`${JSON.stringify({ drifts, problems, notes }, undefined, 2)}\n`);
  else {
    const broken = problems.map(({ object, says }) => `x ${object}: ${says}`);
    for (const line of [...drifts.flatMap(driftLines), ...broken, ...notes]) out.write(printableLine(line));
    if (drifts.length === 0) out.write("the cluster is as this release would install it\n");
    if (options.check && problems.length === 0) out.write("everything that is installed works\n");
  }
  return options.check && drifts.length + problems.length > 0 ? 1 : 0;
}

function showUp({ options, out }: Input): number {
  const nothing = { drifts: [], problems: [], notes: [upNote] };
  out.write(options.output === "json" ? `${JSON.stringify(nothing, undefined, 2)}\n` : printableLine(upNote));
  return 0;
}
