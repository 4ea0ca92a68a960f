/**
 * Rights that are missing: the caller's, without which an object cannot be judged, and those of a component, as the API server has told
 * it. Both are named with the grant that would help.
 */
import { kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Cause } from "./causes.ts";
import { type ClusterCopy, type Gap, notInFiles, type Want } from "./cluster-copy.ts";
import { argumentsFor, type Finding, outer, type Step, textOf, word } from "./finding.ts";

/** What the API server says of a request that it refuses. */
export interface Denial {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  /** Undefined: at the cluster scope. */
  readonly namespace: string | undefined;
  /** The one object that was asked for. */
  readonly name: string | undefined;
}

const denialWords =
  /(?:(?<name>"[^"]+") is forbidden: )?User "(?<user>[^"]+)" cannot (?<verb>[a-z]+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)" (?:in the namespace "(?<namespace>[^"]+)"|at the cluster scope)/;
/** A right to these can be limited to one object. */
const verbsOfOne: ReadonlySet<string> = new Set(["get", "update", "patch", "delete"]);

export function denialIn(text: string): Denial | undefined {
  // Inside of other messages the quotes are often written with a backslash.
  const { groups } = denialWords.exec(text.replaceAll('\\"', '"')) ?? {};
  if (groups === undefined) return undefined;
  const { user = "", verb = "", resource = "", group = "", namespace, name } = groups;
  return { user, verb, resource, group, namespace, name: verbsOfOne.has(verb) ? name?.slice(1, -1) : undefined };
}

/** The grant that would help; for an administrator to run. */
export function grantSteps(denial: Denial, verbs: readonly string[] = [denial.verb]): readonly Step[] {
  const { user, resource, group, namespace, name } = denial;
  const what = group === "" ? resource : `${resource}.${group}`;
  const [, account] = /^system:serviceaccount:([^:]+:[^:]+)$/.exec(user) ?? [];
  const subject = account === undefined ? `--user=${word(user)}` : `--serviceaccount=${word(account)}`;
  const role = word(`${verbs[0]}-${resource.replaceAll("/", "-")}`.replace(/[^a-z0-9.-]/g, "-"));
  const [kind, where] =
    namespace === undefined ? (["clusterrole", ""] as const) : (["role", ` -n ${word(namespace)}`] as const);
  const one = name === undefined ? "" : ` --resource-name=${word(name)}`;
  return [
    {
      says: `give ${account === undefined ? `user ${user}` : `service account ${account.replace(":", "/")}`} the right to ${verbs.join(" and ")} ${what}${name === undefined ? "" : ` ${name}`}`,
      command: `kubectl create ${kind} ${role} --verb=${verbs.join(",")} --resource=${word(what)}${one}${where}`,
    },
    { says: "and bind it", command: `kubectl create ${kind}binding ${role} --${kind}=${role} ${subject}${where}` },
  ];
}

/** The object may be there, and the caller cannot know. Undefined: it is not there, or has been read. */
export function unreadable(copy: ClusterCopy, ref: Ref): Finding | undefined {
  copy.get(ref.kind, ref.namespace, ref.name);
  const gap = copy.gapOf(ref);
  return gap === undefined ? undefined : gapFinding(copy, gap, ref);
}

/** Causes that say that something is not there: they hold only where it can be seen that it is not. */
const restsOn: Partial<Readonly<Record<Cause, readonly Want["kind"][]>>> = {
  ClaimNotFound: ["PersistentVolumeClaim"],
  ClassNotFound: ["VolumeSnapshotClass", "StorageClass"],
  VolumeNotUsable: ["PersistentVolume"],
  ContentNotFound: ["VolumeSnapshotContent"],
  ContentLost: ["VolumeSnapshotContent"],
  SnapshotNotFound: ["VolumeSnapshot"],
  SourceNotUsable: ["VolumeSnapshot", "VolumeSnapshotContent", "PersistentVolumeClaim"],
  NotGranted: ["ReferenceGrant"],
  NodeNotUsable: ["Node", "CSINode"],
  WaitsForNode: ["Pod"],
};

/** What the finding takes for missing, and cannot be seen. */
export function hiddenFrom(copy: ClusterCopy, finding: Finding): Finding | undefined {
  for (const ref of finding.waitsFor) {
    const gap = copy.gapOf(ref);
    if (gap !== undefined) return gapFinding(copy, gap, ref);
  }
  const kinds = restsOn[finding.cause] ?? [];
  const gap = copy.gaps().find(({ want, answer }) => answer.kind === "unreadable" && kinds.includes(want.kind));
  return gap === undefined ? undefined : gapFinding(copy, gap, { ...finding.object, ...refOf(gap.want) });
}

const refOf = ({ kind, namespace, name }: Want): Partial<Ref> => (name === undefined ? {} : { kind, namespace, name });

function gapFinding(copy: ClusterCopy, { want, answer }: Gap, object: Ref): Finding {
  const { plural, group } = kindRows[want.kind];
  if (answer.kind === "unserved")
    return (
      newerKind(copy, want, object) ??
      outer({
        object,
        cause: "KindNotServed",
        says: `the API server does not serve ${plural}${group === "" ? "" : `.${group}`}: its CustomResourceDefinition is not installed`,
        next: [
          { says: "install the CustomResourceDefinitions and the components", command: "snapkeep install --apply" },
          { says: "or the definitions alone", command: "snapkeep crds | kubectl apply --server-side -f -" },
        ],
      })
    );
  const what = want.name === undefined ? `${plural}${placeText(want)}` : textOf({ ...want, name: want.name });
  if (answer.why === notInFiles)
    return outer({
      object,
      cause: "NotReadable",
      actor: "user",
      says: `${what} ${want.name === undefined ? "are" : "is"} not in the files, so the answer cannot be known from them`,
      next: [{ says: "add it to the files", command: `kubectl get ${readArguments(want)} -o yaml` }, gatherStep(want)],
    });
  const verb = want.name === undefined ? "list" : "get";
  const denial = denialIn(answer.why);
  return outer({
    object,
    cause: "NotReadable",
    says: `you may not ${verb} ${plural}${placeText(want)}, so ${what} cannot be judged`,
    evidence: denial === undefined ? [] : [answer.why],
    next: [
      {
        says: `ask an administrator for the right to get ${plural}`,
        command: `kubectl auth can-i ${verb} ${plural}${flagFor(want)}`,
      },
      ...(denial === undefined ? [] : grantSteps({ ...denial, name: undefined }, ["get", "list"])),
    ],
  });
}

export function gapText({ want, answer }: Gap): string {
  const { plural } = kindRows[want.kind];
  if (answer.kind === "unserved") return `the API server does not serve ${plural}`;
  const what = want.name === undefined ? `${plural}${placeText(want)}` : textOf({ ...want, name: want.name });
  if (answer.why === notInFiles) return `${what} ${want.name === undefined ? "are" : "is"} ${notInFiles}`;
  return want.name === undefined ? `you may not list ${what}` : `you may not get ${what}`;
}

/** Served, but in no version that this program knows. */
function newerKind(copy: ClusterCopy, { kind }: Want, object: Ref): Finding | undefined {
  const { plural, group, versions, custom } = kindRows[kind];
  const definition =
    custom === true ? copy.get("CustomResourceDefinition", undefined, `${plural}.${group}`) : undefined;
  const served = definition?.spec?.versions?.filter((each) => each.served).map(({ name }) => name) ?? [];
  if (served.length === 0) return undefined;
  return outer({
    object,
    cause: "NewerThanProgram",
    says: `the API server serves ${plural}.${group} in ${served.join(", ")}, which is newer than this program: it knows ${versions.join(", ")}`,
  });
}

/** An object of files may have a version that this program does not know. */
export function newerVersion(copy: ClusterCopy, ref: Ref): Finding | undefined {
  const { apiVersion } = copy.get(ref.kind, ref.namespace, ref.name) ?? {};
  const { group, versions } = kindRows[ref.kind];
  const prefix = group === "" ? "" : `${group}/`;
  if (apiVersion === undefined || versions.some((version) => apiVersion === `${prefix}${version}`)) return undefined;
  return outer({
    object: ref,
    cause: "NewerThanProgram",
    says: `its apiVersion ${apiVersion} is newer than this program: it knows ${versions.join(", ")}`,
  });
}

const placeText = ({ namespace }: Want): string => (namespace === undefined ? "" : ` in namespace ${namespace}`);
const flagFor = ({ namespace }: Want): string => (namespace === undefined ? "" : ` -n ${word(namespace)}`);
const readArguments = (want: Want): string =>
  want.name === undefined
    ? `${kindRows[want.kind].plural}${flagFor(want)}`
    : argumentsFor({ ...want, name: want.name });
const gatherStep = ({ namespace }: Want): Step => ({
  says: "or explain from a bundle, which has all that is asked for",
  command: `snapkeep gather --out=bundle${namespace === undefined ? "" : ` --namespace=${word(namespace)}`}`,
});
