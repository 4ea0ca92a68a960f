/** Whether a node is one a volume can be reached from: the required part of a volume's node affinity. */
interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}
interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly Term[];
}
interface NodeLike {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** One term that matches is enough; a term without requirements matches nothing. */
export const nodeMatches = ({ metadata }: NodeLike, { nodeSelectorTerms }: NodeSelector): boolean =>
  nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    const fields: Readonly<Record<string, string>> = { "metadata.name": metadata.name };
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((one) => holds(one, metadata.labels ?? {})) &&
      matchFields.every((one) => holds(one, fields))
    );
  });

function holds({ key, operator, values = [] }: Requirement, labels: Readonly<Record<string, string>>): boolean {
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
