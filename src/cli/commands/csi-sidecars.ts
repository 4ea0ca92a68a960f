/** `snapkeep csi-sidecars`: csi-snapshotter and csi-provisioner in one process, with the flags of both. */

import { nearest } from "../../base/nearest.ts";
import { defineCommand } from "../../runtime/command.ts";
import { componentFlags } from "../../runtime/common-flags.ts";
import { type ControllerRow, runControllers } from "../../runtime/controllers.ts";
import { bool, list, type Options, text } from "../../runtime/flag-kinds.ts";
import { mergeFlags } from "../../runtime/merged-flags.ts";
import { provisioner } from "./csi-provisioner.ts";
import { snapshotter } from "./csi-snapshotter.ts";

const group = { group: "Sidecars" } as const;

const merged = mergeFlags(
  { snapshotter: snapshotter.flags, provisioner: provisioner.flags },
  {
    csiAddress: text({ ...group, default: "/run/csi/socket", required: true, help: "Unix socket of the CSI driver." }),
    nodeDeployment: bool({
      ...group,
      default: false,
      help: "Serve only contents that are labelled with the node in NODE_NAME, claims whose selected node it is, and volumes that it reaches.",
    }),
    nodeName: snapshotter.flags.nodeName,
  },
);

/** What `install sidecar` joins by. */
export const joinedFlags = {
  merged,
  programs: {
    "csi-snapshotter": { controller: "snapshotter", flags: snapshotter.flags },
    "csi-provisioner": { controller: "provisioner", flags: provisioner.flags },
  },
};

type MergedOptions = Readonly<Record<string, unknown>>;

interface Sidecar {
  readonly optionsOf: (merged: MergedOptions) => ControllerRow["options"];
  check(merged: MergedOptions): string | undefined;
  specOf(merged: MergedOptions): ControllerRow["spec"];
}

const snapshotterOptions = (options: MergedOptions) => merged.optionsOf("snapshotter", snapshotter.flags, options);
const provisionerOptions = (options: MergedOptions) => merged.optionsOf("provisioner", provisioner.flags, options);

/** One that joins is one more row. */
const sidecars: Readonly<Record<string, Sidecar>> = {
  snapshotter: {
    optionsOf: snapshotterOptions,
    check: (options) => snapshotter.check(snapshotterOptions(options)),
    specOf: (options) => snapshotter.specOf(snapshotterOptions(options)),
  },
  provisioner: {
    optionsOf: provisionerOptions,
    check: (options) => provisioner.check(provisionerOptions(options)),
    specOf: (options) => provisioner.specOf(provisionerOptions(options)),
  },
};

const { workerThreads: _each, ...common } = componentFlags;

const flags = {
  ...merged.table,
  ...common,
  controllers: list({
    ...group,
    default: Object.keys(sidecars),
    example: "snapshotter",
    help: "The controllers to run. Each competes for the lease that its own command would, so separate and joined sidecars may run side by side.",
  }),
} as const;

export const command = defineCommand({
  flags,
  metrics: { ...snapshotter.metrics, ...provisioner.metrics },
  examples: [
    {
      does: "Run in the pod of the CSI driver, in place of its csi-snapshotter and csi-provisioner",
      line: "snapkeep csi-sidecars --csi-address=/csi/csi.sock --leader-election=true",
    },
    {
      does: "Give each controller a timeout of its own",
      line: "snapkeep csi-sidecars --csi-address=/csi/csi.sock --snapshotter-timeout=5m --provisioner-timeout=1m",
    },
  ],
  check: (options) => checkControllers(options) ?? firstProblem(options),
  run: (input) =>
    runControllers(
      input,
      "csi-sidecars",
      chosen(input.options).map(([name, { optionsOf, specOf }]) => ({
        name,
        spec: specOf(input.options),
        options: optionsOf(input.options),
      })),
    ),
});

const chosen = ({ controllers }: Pick<Options<typeof flags>, "controllers">): readonly (readonly [string, Sidecar])[] =>
  Object.entries(sidecars).filter(([name]) => controllers.includes(name));

function checkControllers({ controllers }: Pick<Options<typeof flags>, "controllers">): string | undefined {
  const names = Object.keys(sidecars);
  if (controllers.length === 0) return `--controllers is empty; for example --controllers=${names.join(",")}`;
  const unknown = controllers.find((name) => !names.includes(name));
  if (unknown === undefined) return undefined;
  const hint = nearest(unknown, names);
  return `--controllers: there is no ${JSON.stringify(unknown)}; ${hint === undefined ? `expected some of ${names.join(", ")}` : `did you mean ${hint}?`}`;
}

function firstProblem(options: Options<typeof flags>): string | undefined {
  for (const [, { check }] of chosen(options)) {
    const problem = check(options);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
