/** The shape of a built-in kind: its Go type. `Schemas.builtIn` can be made of this. */
import type { Shape } from "../contracts.ts";
import { badRequest } from "../status.ts";
import { fitToGo } from "./go/fit.ts";
import { GoValueError } from "./go/opaque.ts";
import { goStruct } from "./go/types.ts";

export function builtInShape(group: string, version: string, kind: string): Shape | undefined {
  const struct = goStruct(group === "" ? version : `${group}/${version}`, kind);
  if (struct === undefined) return undefined;
  return {
    prune: (object) => {
      try {
        const fitted = fitToGo(struct, object);
        for (const key of Object.keys(object)) delete object[key];
        Object.assign(object, fitted.object);
        return fitted.unknown;
      } catch (reason) {
        if (!(reason instanceof GoValueError)) throw reason;
        throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${reason.message}`);
      }
    },
    // What has a default, and what is valid, is said by the kind's strategy.
    defaults: () => undefined,
    validate: () => [],
  };
}
