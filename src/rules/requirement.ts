/** One requirement of a selector on labels or fields, as label selectors and node selectors write it. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export function holds(
  { key, operator, values = [] }: SelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return Number(value) > Number(values[0]);
    case "Lt":
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}
