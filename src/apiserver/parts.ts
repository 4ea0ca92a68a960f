/** The parts a server is made of, and what plugins put into them. One set for all servers of a process, so that what is made from it is shared. */
import type { Shape } from "../schema/contracts.ts";
import { createAdmissionWith } from "./admission/admission.ts";
import { bootstrapObjects } from "./builtin/bootstrap.ts";
import type { DataSourceTable } from "./builtin/data-sources.ts";
import { createStrategies } from "./builtin/strategies.ts";
import type { ApiObject, CreateBackground, Parts } from "./contracts.ts";
import { definitionEnd } from "./definitions.ts";
import { createNamespaceDeletion, createServiceAccounts } from "./namespaces.ts";
import { decodeProtobuf } from "./protobuf/decode.ts";
import { createAuthorizer } from "./rbac/authorize.ts";
import { createOpenApi } from "./schema/openapi/openapi.ts";
import { createPatcher } from "./schema/patcher.ts";
import { schemas } from "./schema/schemas.ts";

/** What a server does beyond kube-apiserver, or otherwise. All members are optional. The same plugin given to many servers is shared. */
export interface Plugin {
  /** Work beside the garbage collector: each looks after the objects that are stored, as a controller does. */
  readonly background?: readonly CreateBackground[];
  /** What becomes of the data sources of claims. */
  readonly dataSources?: DataSourceTable;
  /** "group/Kind" → the fields of a built-in kind, in place of Kubernetes'; "" group: "/Pod". */
  readonly shapes?: Readonly<Record<string, Shape>>;
  /** Admission around the usual one, which asks the webhooks that are configured. */
  admission?(usual: Parts["createAdmission"]): Parts["createAdmission"];
  /** What a new server has, made from what it usually has: namespaces, and the roles that everybody knows. */
  bootstrap?(usual: readonly ApiObject[]): readonly ApiObject[];
}

const withPlugins = new WeakMap<Parts, WeakMap<Plugin, Parts>>();

export const partsWith = (plugins: readonly Plugin[]): Parts => plugins.reduce(shared, kubernetes());

function shared(parts: Parts, plugin: Plugin): Parts {
  const known = withPlugins.get(parts) ?? new WeakMap<Plugin, Parts>();
  withPlugins.set(parts, known);
  const made = known.get(plugin) ?? withPlugin(parts, plugin);
  known.set(plugin, made);
  return made;
}

function withPlugin(parts: Parts, plugin: Plugin): Parts {
  const { background = [], dataSources, shapes } = plugin;
  const initial = plugin.bootstrap?.(parts.bootstrap()) ?? parts.bootstrap();
  return {
    ...parts,
    background: [...background, ...parts.background],
    ...(dataSources === undefined ? {} : { strategies: createStrategies({ dataSources }) }),
    ...(shapes === undefined
      ? {}
      : {
          schemas: {
            ...parts.schemas,
            builtIn: (group, version, kind) =>
              shapes[`${group}/${kind}`] ?? parts.schemas.builtIn(group, version, kind),
          },
        }),
    createAdmission: plugin.admission?.(parts.createAdmission) ?? parts.createAdmission,
    bootstrap: () => initial,
  };
}

let made: Parts | undefined;
function kubernetes(): Parts {
  made ??= createParts();
  return made;
}

function createParts(): Parts {
  const initial = bootstrapObjects();
  return {
    schemas,
    patcher: createPatcher({ trackUpdates: true }),
    openApi: createOpenApi(),
    decodeProtobuf,
    strategies: createStrategies(),
    definitionEnd,
    bootstrap: () => initial,
    createAdmission: createAdmissionWith(),
    createAuthorizer,
    background: [createNamespaceDeletion, createServiceAccounts],
  };
}
