/** metav1.LabelSelector against labels: every requirement counts. An empty selector, or one that cannot be read, selects nothing. */
import type { ClaimSelector } from "../api/types.ts";

type Labels = Readonly<Record<string, string>>;

const operators: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

/** What is wrong with the selector, in a clause; undefined: nothing. */
export function selectorProblem({ matchLabels = {}, matchExpressions = [] }: ClaimSelector): string | undefined {
  if (Object.keys(matchLabels).length + matchExpressions.length === 0) return "is empty";
  for (const { key, operator, values = [] } of matchExpressions) {
    if (operators[operator] === undefined)
      return `has the operator "${operator}" for label ${key}; there are ${Object.keys(operators).join(", ")}`;
    if ((operator === "In" || operator === "NotIn") === (values.length === 0))
      return `has ${values.length === 0 ? "no values" : "values"} for label ${key}, and ${operator} takes ${values.length === 0 ? "some" : "none"}`;
  }
  return undefined;
}

export function isClaimSelected(selector: ClaimSelector, labels: Labels = {}): boolean {
  if (selectorProblem(selector) !== undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labelOf = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => operators[operator]?.(labelOf(key), values) === true)
  );
}
