/** Does a LabelSelector (matchLabels and matchExpressions) select these labels? An empty selector selects everything. */
import type { LabelSelector } from "kubernetes-types/meta/v1.js";

type Labels = Readonly<Record<string, string>>;
type Expression = NonNullable<LabelSelector["matchExpressions"]>[number];

export const matchesSelector = (selector: LabelSelector, labels: Labels = {}): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labelOf(labels, key) === value) &&
  (selector.matchExpressions ?? []).every((expression) => satisfied(expression, labels));

const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

function satisfied({ key, operator, values = [] }: Expression, labels: Labels): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
