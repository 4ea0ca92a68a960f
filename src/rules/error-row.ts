/** One row of docs/reference/errors.md. */
export interface ErrorRow {
  readonly title: string;
  /** Why the rule exists. */
  readonly why: string;
  readonly remedy: string;
}
