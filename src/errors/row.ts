/** What is said about one code: its section of docs/reference/errors.md, and the end of its messages. */
export interface ErrorRow {
  readonly title: string;
  /** Why the rule exists. */
  readonly why: string;
  /**
   * What mends it, as a clause without a full stop. A message ends in it, with the names that the message has; the documentation begins
   * with it, and says the default where a message has a name.
   */
  readonly fix: string | ((...names: string[]) => string);
  /** What the documentation says beyond that, in whole sentences. */
  readonly more?: string;
}

export const keepTheData =
  "To keep the data and delete the object, set spec.deletionPolicy of the VolumeSnapshotContent to Retain.";
