/** `snapkeep admission-policies`: the rules as admission policies of Kubernetes, for clusters without the webhook. */
import { stringify } from "yaml";
import type { ProvisionerAccount } from "../../rules/guard-policies.ts";
import type { ValidationAction } from "../../rules/policy-objects.ts";
import { type PolicySubject, policiesFor, policyRows, policySubjects } from "../../rules/policy-rows.ts";
import { type CommandInput, defineCommand } from "../../runtime/command.ts";
import { bool, list, oneOf, text } from "../../runtime/flag-kinds.ts";
import { ownProvisioners } from "../install/admission.ts";

const actions: readonly ValidationAction[] = ["Deny", "Warn", "Audit"];
const isSubject = (word: string): word is PolicySubject => policySubjects.some((subject) => subject === word);
const isAction = (word: string): word is ValidationAction => actions.some((action) => action === word);

const flags = {
  print: bool({
    default: false,
    help: "Write the policies and their bindings to standard output. Needs no cluster. Without it, each rule is listed with the policy that has it.",
  }),
  actions: list({
    default: ["Deny"],
    help: "With --print: what happens with a request that breaks a rule. Deny; or Audit and Warn, to see first what would be refused.",
  }),
  for: list({
    default: ["snapshots"],
    help: `With --print: what the policies are about: ${policySubjects.join(", ")}.`,
  }),
  namespace: text({
    short: "n",
    default: "snapkeep",
    required: true,
    help: "With --for=shares: where the ConfigMaps are that list the shares with reserved names.",
  }),
  provisioners: list({
    default: ownProvisioners.map(({ binding, driver }) => `${binding}=${driver}`),
    help: "With --for=guards: each csi-provisioner, as the ClusterRoleBinding of its service account and its driver. These accounts may create PersistentVolumes of their driver only.",
  }),
  output: oneOf(["text", "yaml", "json"], {
    default: "text",
    short: "o",
    help: "Format of the output. Manifests are YAML unless json is asked for.",
  }),
} as const;

export const command = defineCommand({
  flags,
  examples: [
    { does: "List each rule, with its policy or why there is none", line: "snapkeep admission-policies" },
    {
      does: "See for a while what would be refused",
      line: "snapkeep admission-policies --print --actions=Audit,Warn | kubectl apply --server-side -f -",
    },
    { does: "Refuse it", line: "snapkeep admission-policies --print | kubectl apply --server-side -f -" },
    {
      does: "Refuse reserved names of shares, and volumes of shares that are not read-only",
      line: "snapkeep admission-policies --print --for=shares | kubectl apply --server-side -f -",
    },
    {
      does: "Guard what the components trust, with a driver of your own",
      line: "snapkeep admission-policies --print --for=guards --provisioners=my-driver-provisioner=csi.example.com",
    },
    { does: "Remove the policies", line: "snapkeep admission-policies --print | kubectl delete -f -" },
  ],
  check: (options) => {
    const unknown = options.actions.find((word) => !isAction(word));
    if (unknown !== undefined) return `--actions: ${JSON.stringify(unknown)}; expected some of ${actions.join(", ")}`;
    const other = options.for.find((word) => !isSubject(word));
    if (other !== undefined || options.for.length === 0)
      return `--for: ${JSON.stringify(other ?? "")}; expected some of ${policySubjects.join(", ")}`;
    const broken = options.provisioners.find((word) => !/^[^=]+=[a-z0-9.-]+$/.test(word));
    if (broken !== undefined)
      return `--provisioners: ${JSON.stringify(broken)}; expected BINDING=DRIVER, for example my-driver=csi.example.com`;
    if (options.actions.length === 0) return `--actions: expected some of ${actions.join(", ")}`;
    // The API server refuses this pair, because the same message would be sent twice.
    if (options.actions.includes("Deny") && options.actions.includes("Warn"))
      return "--actions: Deny and Warn exclude each other; give Audit,Warn first, and Deny later";
    return undefined;
  },
  run: async (input) => {
    input.out.write(input.options.print ? manifests(input) : rows(input));
    return 0;
  },
});

const provisionerIn = (text: string): ProvisionerAccount => {
  const [binding = "", driver = ""] = text.split("=");
  return { binding, driver };
};

type Input = CommandInput<typeof flags>;

function manifests({ options }: Input): string {
  const { namespace } = options;
  const objects = policiesFor({
    subjects: options.for.filter(isSubject),
    actions: options.actions.filter(isAction),
    namespace,
    provisioners: options.provisioners.map(provisionerIn),
  });
  if (options.output === "json")
    return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }, undefined, 2)}\n`;
  return objects.map((object) => `---\n${stringify(object, { lineWidth: 0 })}`).join("");
}

function rows({ options }: Input): string {
  if (options.output === "json") return `${JSON.stringify(policyRows, undefined, 2)}\n`;
  if (options.output === "yaml") return stringify(policyRows, { lineWidth: 0 });
  return policyRows
    .map(({ code, kind, field, policy, why }) => `${code}  ${kind}  ${field}\n    ${policy ?? `no policy: ${why}`}\n`)
    .join("");
}
