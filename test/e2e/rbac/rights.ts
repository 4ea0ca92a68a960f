/** Every single right that the manifests grant: one verb on one resource, of one name where the rule has names. */
import type { ClusterRole, PolicyRule, Role, RoleBinding } from "kubernetes-types/rbac/v1.js";
import type { ComponentRights, Right } from "../../../src/api/manifests/component.ts";
import { manifestFiles } from "../../../src/api/manifests/objects.ts";
import { componentRows, sidecarRows } from "../../../src/api/manifests/rows.ts";
import { installationOf } from "../../../src/cli/deploy.ts";

export interface SingleRight {
  readonly component: string;
  /** Absent: in the whole cluster. */
  readonly namespace?: string;
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
  readonly verb: string;
}

export const installation = installationOf("0.0.0");
/** Sidecars have the rights of their driver's account; directory-driver runs both, so that its rights are theirs. */
export const sidecarDriver = "directory.snapkeep.dev";
const withSidecars = "directory-driver";

const singles = (component: string, namespace: string | undefined, rules: readonly PolicyRule[]): SingleRight[] =>
  rules.flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        (resourceNames ?? [undefined]).flatMap((name) =>
          verbs.map((verb) => ({
            component,
            group,
            resource,
            verb,
            ...(namespace === undefined ? {} : { namespace }),
            ...(name === undefined ? {} : { name }),
          })),
        ),
      ),
    ),
  );

/** As the rendered roles and their bindings say. */
function rendered(): readonly SingleRight[] {
  const objects = componentRows.flatMap((row) => manifestFiles(row, installation)).flatMap((file) => file.objects);
  const roles = objects.filter(({ kind }) => /^(Cluster)?Role$/.test(kind)) as unknown as readonly (
    | ClusterRole
    | Role
  )[];
  const bindings = objects.filter(({ kind }) => kind.endsWith("Binding")) as unknown as readonly RoleBinding[];
  return bindings.flatMap(({ metadata, roleRef, subjects = [] }) => {
    const role = roles.find(
      ({ metadata: own }) => own?.name === roleRef.name && own?.namespace === metadata?.namespace,
    );
    if (role === undefined) throw new Error(`the binding ${metadata?.name} names no rendered role`);
    return subjects.flatMap(({ name }) => {
      const row = componentRows.find(({ serviceAccount }) => serviceAccount === name);
      if (row === undefined)
        throw new Error(`the binding ${metadata?.name} is for ${name}, which no component runs as`);
      return singles(row.name, metadata?.namespace, role.rules ?? []);
    });
  });
}

function ofSidecars(): readonly SingleRight[] {
  const namespaceOf = (right: Right): string => right.namespace ?? installation.driverNamespace;
  return sidecarRows.flatMap(({ name, rights }) => {
    const { clusterRules, namespaceRules }: ComponentRights = rights(sidecarDriver, {
      topology: true,
      attachments: true,
      capacity: true,
    });
    return [
      ...singles(name, undefined, clusterRules),
      ...namespaceRules.flatMap((right) => singles(name, namespaceOf(right), [right])),
    ];
  });
}

const rightsOf = (all: readonly SingleRight[]): readonly SingleRight[] => [
  ...new Map(all.map((right) => [textOf(right), right])).values(),
];

/** What is tried: each right of each component that runs as a process of its own. */
export const triedRights: readonly SingleRight[] = rightsOf([
  ...rendered().filter(({ component }) => component !== withSidecars),
  ...ofSidecars(),
]);

/** Rights of directory-driver that no sidecar has. */
export const unexplainedRights = (): readonly SingleRight[] => {
  const ofSidecar = new Set(ofSidecars().map((right) => textOf({ ...right, component: "" })));
  return rendered()
    .filter(({ component }) => component === withSidecars)
    .filter((right) => !ofSidecar.has(textOf({ ...right, component: "" })));
};

/** Rules of one role that another rule of the same role grants already. */
export const coveredRules = (): readonly string[] =>
  componentRows
    .flatMap((row) => manifestFiles(row, installation))
    .flatMap(({ objects }) => objects)
    .filter(({ kind }) => /^(Cluster)?Role$/.test(kind))
    .flatMap((object) => {
      const { rules = [] } = object as unknown as ClusterRole;
      const texts = rules.flatMap((rule) => singles("", undefined, [rule]).map(textOf));
      return texts
        .filter((text, index) => texts.indexOf(text) !== index)
        .map((text) => `${object.metadata.name}: ${text}`);
    });

export function resourceOf({ resource, group }: Pick<SingleRight, "resource" | "group">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** For example "snapshot-controller: update leases.coordination.k8s.io snapshot-controller-leader in kube-system". */
export function textOf(right: SingleRight): string {
  const name = right.name === undefined ? "" : ` ${right.name}`;
  const place = right.namespace === undefined ? "" : ` in ${right.namespace}`;
  return `${right.component}: ${right.verb} ${resourceOf(right)}${name}${place}`;
}
