/** What to do next, by cause: who has to act, and what is typed. Finalizers are never taken off by hand here. */
import { kindRows } from "../../api/kinds.ts";
import { annotations } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { Cause } from "./causes.ts";
import { argumentsFor, type Finding, type Step, textOf, word } from "./finding.ts";
import { type Denial, grantSteps } from "./rights.ts";
import type { RunningComponent } from "./running.ts";

export interface Situation {
  readonly cause: Cause;
  readonly at: Ref;
  readonly finding: Finding;
  readonly running: RunningComponent | undefined;
}

const describe = (ref: Ref, says: string): Step => ({ says, command: `kubectl describe ${argumentsFor(ref)}` });
const list = ({ kind, namespace }: Ref, says: string): Step => ({
  says,
  command: `kubectl get ${kindRows[kind].plural}${namespace === undefined ? "" : ` -n ${word(namespace)}`}`,
});
const wait = (says: string): readonly Step[] => [{ says: `wait: ${says}` }];

/** The log of the container that acts; without a pod, how to find it. */
function logs({ finding, running }: Situation): Step {
  const component = finding.component?.name ?? "the component";
  const container = word(running?.container ?? component);
  const says = `read the log of ${component}`;
  if (running?.pod !== undefined)
    return {
      says,
      command: `kubectl logs ${word(running.pod.name)} -n ${word(running.pod.namespace ?? "default")} -c ${container}`,
    };
  return running?.holder === undefined || running.isPodUnknown
    ? { says: `${says}; leases or pods cannot be read, or there are none, so its pod is not known` }
    : { says: `${says}: ${running.holder} holds its lease, which is no pod of this cluster` };
}

/** What the driver said is in the sentence of the cause. */
const repeated = (situation: Situation): readonly Step[] => [
  {
    says: `repair what ${driverIn(situation)} reports: ${situation.finding.says}. The call is repeated by itself, with growing pauses`,
  },
  logs(situation),
];
const handleIn = ({ finding: { says } }: Situation): string => {
  const [, handle] = /snapshot "([^"]+)"/.exec(says) ?? [];
  return handle === undefined ? "" : `, snapshot "${handle}"`;
};
const driverIn = ({ finding: { component } }: Situation): string =>
  component?.driver === undefined ? "the driver" : `driver ${component.driver}`;

function restart(situation: Situation): readonly Step[] {
  const { finding, running } = situation;
  const name = finding.component?.name ?? "the component";
  const driver = finding.component?.driver;
  if (running?.pod !== undefined && running.state === "idle")
    return [
      describe(running.pod, `repair the pod of ${name}`),
      {
        says: "read its last words",
        command: `kubectl logs ${word(running.pod.name)} -n ${word(running.pod.namespace ?? "default")} -c ${word(running.container ?? name)} --previous`,
      },
    ];
  const where = running?.lease?.namespace === undefined ? "" : ` in namespace ${running.lease.namespace}`;
  return driver === undefined
    ? [
        ...(running?.lease === undefined
          ? []
          : [
              {
                says: `see why no pod of ${name} runs${where}`,
                command: `kubectl get deployments,pods -n ${word(running.lease.namespace ?? "default")}`,
              },
            ]),
        { says: `see what an installation of snapkeep lacks${where}`, command: `snapkeep install --check` },
        { says: `or install ${name}`, command: `snapkeep install --apply` },
      ]
    : [
        {
          says: `start the pod of driver ${driver} with its ${name} sidecar${where}`,
          command: `kubectl get pods -A | grep ${word(driver.split(".")[0] ?? driver)}`,
        },
      ];
}

const advice: Readonly<Record<Cause, (situation: Situation) => readonly Step[]>> = {
  Settled: () => [{ says: "nothing has to be done" }],
  NothingWrong: ({ finding }) =>
    finding.cause === "NothingWrong" ? [{ says: "nothing has to be done" }] : wait("nothing has to be done yet"),
  NotOurs: ({ at }) => [describe(at, "ask whoever is responsible for it")],
  Writes: (situation) => [logs(situation)],
  Released: () => wait("the object is released"),

  Invalid: ({ finding }) => [{ says: finding.says }],
  ClaimNotFound: ({ at }) => [list(at, "create the claim, or name another one")],
  ClaimNotBound: ({ at }) => [describe(at, "see why the claim has no volume")],
  VolumeNotUsable: ({ at, finding }) => [describe(at, finding.says)],
  ClassNotFound: ({ at, finding }) => [
    list(
      {
        ...at,
        kind:
          at.kind === "StorageClass" || at.kind === "PersistentVolumeClaim" ? "StorageClass" : "VolumeSnapshotClass",
        namespace: undefined,
      },
      finding.says,
    ),
  ],
  ClassNotUsable: ({ at, finding }) => [
    at.kind === "VolumeSnapshot"
      ? {
          says: `${finding.says}; the default is set by the annotation ${annotations.defaultClass}`,
          command: `kubectl annotate volumesnapshotclass NAME ${annotations.defaultClass}-`,
        }
      : { says: finding.says, command: "kubectl get volumesnapshotclasses -o yaml" },
  ],
  SecretNotUsable: ({ at, finding }) => [list(at, finding.says)],
  ContentNotFound: ({ at, finding }) => [{ says: finding.says, command: `kubectl get ${argumentsFor(at)}` }],
  ContentLost: ({ finding }) => [
    {
      says: `${finding.says}. The data may still be with the driver: look for its snapshotHandle in a backup or in the driver's list, and import it by a pre-provisioned content`,
    },
  ],
  ContentNotUsable: ({ at, finding }) => [
    describe(at, `${finding.says}; compare its spec.volumeSnapshotRef with the snapshot`),
  ],
  SnapshotNotFound: ({ at, finding }) => [list(at, finding.says)],
  SnapshotNotReady: ({ at }) => [
    {
      says: "wait until the snapshot is ready",
      command: `kubectl wait ${kindRows[at.kind].singular}/${word(at.name)} -n ${word(at.namespace ?? "default")} --for=jsonpath='{.status.readyToUse}'=true`,
    },
  ],
  PartOfGroup: ({ at }) => [describe(at, "look at the VolumeGroupSnapshot in its metadata.ownerReferences")],
  WaitsForProtection: (situation) => [logs(situation)],
  WaitsForSidecar: (situation) => [logs(situation)],
  WaitsForDriver: (situation) => [
    {
      says: `see what ${driverIn(situation)} and the storage behind it do for ${textOf(situation.finding.object)}${handleIn(situation)}`,
    },
    logs(situation),
  ],
  DriverFailed: repeated,
  OutcomeUnknown: (situation) => [{ says: situation.finding.says }, logs(situation)],
  WaitsForContentDeletion: ({ at }) => [describe(at, "see why the content is not deleted")],
  WaitsForDeletionConfirmed: ({ at, finding }) => [
    {
      says: `${finding.says}. If neither the snapshot nor its data is wanted, delete it`,
      command: `kubectl delete ${argumentsFor(at)}`,
    },
  ],
  InUseByClaim: ({ at, finding }) => [
    describe(at, finding.says),
    { says: "if the restored volume is not wanted, delete that claim", command: `kubectl delete ${argumentsFor(at)}` },
  ],
  WaitsForGrants: (situation) => [logs(situation)],
  WaitsForLists: (situation) => [logs(situation)],
  NotGranted: ({ finding }) => [{ says: finding.says }],
  WaitsForNode: ({ at, finding }) => [describe(at, finding.says)],
  NodeNotUsable: ({ finding }) => [{ says: finding.says, command: "kubectl get nodes" }],
  SourceNotUsable: ({ finding }) => [{ says: finding.says }],
  VolumeInUse: ({ at, finding }) => [describe(at, finding.says)],
  StoredCallUncertain: (situation) => [{ says: situation.finding.says }, logs(situation)],
  SecretNotFound: ({ at, finding }) => [list(at, finding.says)],
  ShareNotFound: ({ at, finding }) => [list(at, finding.says)],
  UseDenied: ({ finding }) => [{ says: finding.says }],
  NoRoom: ({ finding }) => [{ says: finding.says }],
  NotPermitted: ({ at, finding, running }) => [
    ...(running?.serviceAccount === undefined ? [] : grantSteps(readOf(at, running.serviceAccount))),
    {
      says: `${finding.says}; an installation of snapkeep has a Role for it, by resourceNames`,
      command: "snapkeep install --diff",
    },
  ],
  RequestRefused: (situation) => [{ says: situation.finding.says }, logs(situation)],
  ServerUnreachable: (situation) => [{ says: situation.finding.says }, logs(situation)],
  InUseBySnapshot: ({ at }) => [describe(at, "see why the snapshot is not taken yet")],
  SourceNotServed: ({ finding }) => [{ says: finding.says }],
  StoredCallDiffers: (situation) => [{ says: situation.finding.says }, logs(situation)],
  UnexpectedError: (situation) => [{ says: situation.finding.says }, logs(situation)],
  VolumeAbandoned: (situation) => [{ says: situation.finding.says }, logs(situation)],

  ComponentDown: restart,
  WebhookDown: ({ finding }) => [
    { says: finding.says, command: "snapkeep webhook promote --demote" },
    { says: "then see why its pods do not answer", command: "snapkeep install --check" },
  ],
  KindNotServed: () => [{ says: "install the CustomResourceDefinitions", command: "snapkeep install --apply" }],
  ForeignFinalizer: ({ finding }) => [{ says: finding.says }],
  NotReadable: ({ finding }) => [{ says: finding.says }],
  NewerThanProgram: ({ finding }) => [{ says: `${finding.says}; use a newer snapkeep` }],
  KnownDefect: ({ finding }) => [{ says: finding.says }],
};

/** The right that a component lacks that may not read the object. */
const readOf = ({ kind, namespace, name }: Ref, serviceAccount: string): Denial => ({
  user: `system:serviceaccount:${serviceAccount}`,
  verb: "get",
  resource: kindRows[kind].plural,
  group: kindRows[kind].group,
  namespace,
  name,
});

export const stepsFor = (situation: Situation): readonly Step[] => advice[situation.cause](situation);
