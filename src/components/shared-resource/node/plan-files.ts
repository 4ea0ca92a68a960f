/** The files of a volume: one per key of the Secret or ConfigMap. */

import type { CodedMessage } from "../../../api/plan.ts";
import type { ObjectOf } from "../../../api/types.ts";
import { withCode } from "../../../errors/codes.ts";
import { nodeLimits } from "./limits.ts";

/** Kubernetes allows these characters only; a name of dots leads out of the folder, and two dots are ours. */
const isFileName = (key: string): boolean =>
  /^[-._a-zA-Z0-9]+$/.test(key) && key.length <= nodeLimits.keyBytesMax && key !== "." && !key.startsWith("..");

/** Why the whole set cannot be written: a set with a key left out would be a mix. */
export function keyProblem(source: ObjectOf<"Secret" | "ConfigMap">): CodedMessage | undefined {
  const { metadata, kind } = source;
  const odd = keysOf(source).find((key) => !isFileName(key));
  return odd === undefined
    ? undefined
    : withCode(
        `${kind} ${metadata.namespace}/${metadata.name}: key ${JSON.stringify(odd.slice(0, 300))} cannot be a file name: use letters, digits, ".", "_", "-", not two dots at the beginning`,
        "SNAP-708",
      );
}

const keysOf = (source: ObjectOf<"Secret" | "ConfigMap">): readonly string[] => [
  ...Object.keys(source.data ?? {}),
  ...(source.kind === "ConfigMap" ? Object.keys(source.binaryData ?? {}) : []),
];
