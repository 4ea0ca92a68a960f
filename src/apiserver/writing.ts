/** What creating, updating and deleting share: who asks, what admission is shown, and who wrote which field. */
import { rfc3339 } from "../base/time.ts";
import type { World } from "../base/world.ts";
import type {
  Admission,
  ApiObject,
  Context,
  FeatureGates,
  Operation,
  Patcher,
  Reader,
  Review,
  Store,
  Stored,
  User,
  WriteOptions,
} from "./contracts.ts";
import { dedupeOwners, fit } from "./prepare.ts";
import type { Target } from "./target.ts";
import { optionsObject } from "./write-rules.ts";

export const admin: User = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

export interface WritingParts {
  readonly store: Store;
  readonly world: World;
  readonly gates: FeatureGates;
  readonly patcher: Patcher;
  readonly managedFields: boolean;
  readonly reader: Reader;
  /** Not there yet when the registry is made: it reads through it. */
  admission(): Admission;
}

export interface Writing extends Pick<WritingParts, "store" | "world" | "admission"> {
  contextFor(options: WriteOptions): Context;
  reviewOf(
    target: Target,
    operation: Operation,
    options: WriteOptions,
    objects: Pick<Review, "object" | "oldObject">,
  ): Review;
  /** Mutating admission; what it changed is fitted to the schema again. */
  mutated(review: Review, object: ApiObject): Promise<ApiObject>;
  /** Notes in managedFields what the writer has changed. */
  track(target: Target, before: ApiObject | undefined, after: ApiObject, options: WriteOptions): void;
}

export function createWriting(parts: WritingParts): Writing {
  const { store, world, gates, reader, admission } = parts;
  const contextFor = (options: WriteOptions): Context => ({
    world,
    gates,
    user: options.user ?? admin,
    reader,
    dryRun: options.dryRun ?? false,
    subresource: options.subresource ?? "",
  });
  return {
    store,
    world,
    admission,
    contextFor,
    reviewOf: (target, operation, options, objects) => ({
      resource: target.resource,
      namespace: target.namespace,
      name: target.name,
      operation,
      subresource: options.subresource ?? "",
      object: objects.object,
      oldObject: objects.oldObject,
      options: optionsObject(operation, options),
      context: contextFor(options),
      warn: options.warn ?? ignore,
      signal: options.signal,
    }),
    async mutated(review, object) {
      const result = (await admission().mutate(review)) ?? object;
      if (result !== object) fit(result, review.resource, gates);
      const warning = dedupeOwners(result.metadata);
      if (warning !== undefined) review.warn(warning);
      return result;
    },
    track(target, before, after, options) {
      if (!parts.managedFields) return;
      const managedFields = parts.patcher.track({
        resource: target.resource,
        before,
        after,
        manager: options.fieldManager ?? "unknown",
        subresource: options.subresource ?? "",
        time: rfc3339(world.now()),
      });
      if (managedFields === undefined || managedFields.length === 0) delete after.metadata.managedFields;
      else after.metadata.managedFields = managedFields;
    },
  };
}

const ignore = (): void => undefined;

/** Returns what a commit of one change has stored. */
export function onlyOne(written: readonly Stored[]): Stored {
  const [stored] = written;
  if (stored === undefined) throw new Error("a commit of one change stores one object");
  return stored;
}
