/** The functions and type names every rule may use. */
import { type Library, mergeLibraries } from "./functions.ts";
import { addresses } from "./library/addresses.ts";
import { conversions, typeNames } from "./library/conversions.ts";
import { kubernetes } from "./library/kubernetes.ts";
import { lists } from "./library/lists.ts";
import { operators } from "./library/operators.ts";
import { texts } from "./library/text.ts";
import { time } from "./library/time.ts";

/** Known by name, of no use in rules on objects: the functions of admission's authorizer. */
const authorizer: Library = Object.fromEntries(
  [
    ...["path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check", "allowed"],
    ...["reason", "errored", "error", "fieldSelector", "labelSelector"],
  ].map((name) => [name, []]),
);

export const environment = {
  functions: mergeLibraries(authorizer, operators, conversions, time, texts, lists, addresses, ...kubernetes),
  typeNames,
} as const;
