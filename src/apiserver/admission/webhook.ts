/** A webhook as stored in its configuration, and whether it is to be asked about a request. Pure. */
import type { MutatingWebhook } from "kubernetes-types/admissionregistration/v1.js";
import type { ApiObject, Reader, Resource, Review } from "../contracts.ts";
import { matchesSelector } from "../label-match.ts";

export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  /** Plural, alone or followed by a slash and a subresource; a star in either place covers that place. */
  readonly resources?: readonly string[];
  readonly scope?: string;
}

export type Webhook = Omit<MutatingWebhook, "rules" | "matchConditions"> & {
  readonly rules?: readonly WebhookRule[];
  readonly matchConditions?: readonly MatchCondition[] | null;
};

export interface MatchCondition {
  readonly name?: string;
  readonly expression?: string;
}

const group = "admissionregistration.k8s.io";
const collections = {
  mutating: `${group}/mutatingwebhookconfigurations`,
  validating: `${group}/validatingwebhookconfigurations`,
} as const;
export type Phase = keyof typeof collections;

export const webhooksOf = (configuration: ApiObject): readonly Webhook[] =>
  (configuration as unknown as { readonly webhooks?: readonly Webhook[] | null }).webhooks ?? [];

/** Configurations by name, webhooks as written: the order in which they are called. */
export const webhooksIn = (reader: Reader, phase: Phase): readonly Webhook[] =>
  reader.list(collections[phase]).flatMap(webhooksOf);

/**
 * The row whose version the webhook wants to see, or undefined when it is not to be asked. With matchPolicy Equivalent a
 * rule for another served version of the same kind counts, and the object is shown in that version.
 */
export function rowFor(
  webhook: Webhook,
  review: Review,
  reader: Reader,
  rows: readonly Resource[],
): Resource | undefined {
  // A broken webhook must not be able to keep itself from being repaired.
  if (review.resource.group === group) return undefined;
  const row = matchingRow(webhook, review, rows);
  if (row === undefined) return undefined;
  return namespaceFits(webhook, review, reader) && objectFits(webhook, review) ? row : undefined;
}

function matchingRow(webhook: Webhook, review: Review, rows: readonly Resource[]): Resource | undefined {
  const rules = webhook.rules ?? [];
  if (rules.some((rule) => ruleCovers(rule, review, review.resource))) return review.resource;
  if (webhook.matchPolicy === "Exact") return undefined;
  const others = rows.filter(({ collection }) => collection === review.resource.collection);
  return others.find((row) => rules.some((rule) => ruleCovers(rule, review, row)));
}

const has = (list: readonly string[] | undefined, item: string): boolean =>
  list?.includes("*") === true || list?.includes(item) === true;

export function ruleCovers(rule: WebhookRule, review: Review, row: Resource): boolean {
  return (
    has(rule.operations, review.operation) &&
    has(rule.apiGroups, row.group) &&
    has(rule.apiVersions, row.version) &&
    scopeFits(rule.scope ?? "*", review) &&
    (rule.resources ?? []).some((pattern) => resourceFits(pattern, row.plural, review.subresource))
  );
}

/** Without a slash a pattern covers the resource itself and none of its subresources. */
function resourceFits(pattern: string, plural: string, subresource: string): boolean {
  const [resource = "", below = ""] = pattern.split("/", 2);
  return (resource === "*" || resource === plural) && (below === "*" || below === subresource);
}

const isNamespace = ({ resource }: Review): boolean => resource.group === "" && resource.plural === "namespaces";

function scopeFits(scope: string, review: Review): boolean {
  if (scope === "*") return true;
  const clusterWide = isNamespace(review) || review.namespace === "";
  return scope === "Cluster" ? clusterWide : !clusterWide;
}

/** Cluster-wide objects are not held back by a namespace selector; a namespace is judged by its own labels. */
function namespaceFits({ namespaceSelector }: Webhook, review: Review, reader: Reader): boolean {
  if (namespaceSelector === undefined) return true;
  if (isNamespace(review)) {
    const { labels } = (review.object ?? review.oldObject)?.metadata ?? {};
    return matchesSelector(namespaceSelector, labels);
  }
  if (review.namespace === "") return true;
  return matchesSelector(namespaceSelector, reader.get("namespaces", "", review.namespace)?.metadata.labels);
}

function objectFits({ objectSelector }: Webhook, { object, oldObject }: Review): boolean {
  if (objectSelector === undefined) return true;
  return [object, oldObject].some(
    (state) => state !== undefined && matchesSelector(objectSelector, state.metadata.labels),
  );
}
