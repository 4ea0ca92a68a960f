/** Webhooks and CustomResourceDefinitions of the snapshot stack. Pure. */
import { type KindName, kindRows } from "../../api/kinds.ts";
import {
  claimConfigurationName,
  shareConfigurationName,
  snapshotConfigurationName,
} from "../../api/manifests/webhook-configurations.ts";
import { certificatesIn } from "../../components/webhook/certificates/facts.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import type { DefinitionView, WebhookView } from "./view.ts";

const groups: ReadonlySet<string> = new Set(
  Object.values(kindRows)
    .filter(({ custom }) => custom === true)
    .map(({ group }) => group),
);
/** Asked about claims and pods. */
const ours: ReadonlySet<string> = new Set([snapshotConfigurationName, claimConfigurationName, shareConfigurationName]);
const configurationKinds = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] as const;

interface Webhook {
  readonly name: string;
  readonly failurePolicy?: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly url?: string;
    readonly service?: { readonly namespace: string; readonly name: string };
  };
  readonly rules?: readonly { readonly apiGroups?: readonly string[]; readonly resources?: readonly string[] }[];
}

/** Those that are asked about our kinds, and ours that is asked about claims. */
export const webhooksView = (copy: ClusterCopy): readonly WebhookView[] =>
  configurationKinds.flatMap((kind) =>
    copy.list(kind).flatMap(({ metadata, webhooks = [] }) =>
      (webhooks as readonly Webhook[])
        .filter((one) => ours.has(metadata.name) || isAskedAboutOurs(one))
        .map(({ name, failurePolicy = "Fail", clientConfig }) => ({
          configuration: metadata.name,
          kind,
          webhook: name,
          failurePolicy,
          at:
            clientConfig.service === undefined
              ? (clientConfig.url ?? "nowhere")
              : `Service ${clientConfig.service.namespace}/${clientConfig.service.name}`,
          trustedUntilMs: trustedUntil(clientConfig.caBundle),
        })),
    ),
  );

const isAskedAboutOurs = ({ rules = [] }: Webhook): boolean =>
  rules.some(({ apiGroups = [] }) => apiGroups.some((group) => groups.has(group)));

function trustedUntil(bundle: string | undefined): number | undefined {
  if (bundle === undefined) return undefined;
  const ends = certificatesIn(Buffer.from(bundle, "base64").toString("utf8")).map(({ endsMs }) => endsMs);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

const definedKinds = (Object.keys(kindRows) as readonly KindName[]).filter((kind) => kindRows[kind].custom === true);

export const definitionsView = (copy: ClusterCopy): readonly DefinitionView[] =>
  definedKinds.flatMap((kind) => {
    const { plural, group } = kindRows[kind];
    const found = copy.get("CustomResourceDefinition", undefined, `${plural}.${group}`);
    if (found === undefined) return [];
    const served = found.spec.versions.filter((version) => version.served).map(({ name }) => name);
    return [{ name: found.metadata.name, served, stored: found.status?.storedVersions ?? [] }];
  });
