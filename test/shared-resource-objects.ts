/** Objects of every kind that makes pods, with volumes of the shared-resource driver or of anything else. */
import type { JsonObject } from "../src/base/json.ts";
import { shareDriver } from "../src/rules/shared-resources.ts";

type Volumes = readonly JsonObject[];

interface Maker {
  /** Leads to the first volume's source. */
  readonly field: string;
  make(volumes: Volumes): JsonObject;
}

const inBuild = (volumes: Volumes): JsonObject[] =>
  volumes.map(({ name = "volume", ...source }) => ({
    name,
    mounts: [{ destinationPath: `/${String(name)}` }],
    source: { type: "CSI", ...source },
  }));
const inTemplate = (volumes: Volumes): JsonObject => ({ spec: { template: { spec: { volumes: [...volumes] } } } });

const makers: Readonly<Record<string, Maker>> = {
  Pod: { field: "spec.volumes[0]", make: (volumes) => ({ spec: { volumes: [...volumes] } }) },
  PodTemplate: {
    field: "template.spec.volumes[0]",
    make: (volumes) => ({ template: { spec: { volumes: [...volumes] } } }),
  },
  CronJob: {
    field: "spec.jobTemplate.spec.template.spec.volumes[0]",
    make: (volumes) => ({ spec: { jobTemplate: inTemplate(volumes) } }),
  },
  Build: {
    field: "spec.strategy.dockerStrategy.volumes[0].source",
    make: (volumes) => ({ spec: { strategy: { dockerStrategy: { volumes: inBuild(volumes) } } } }),
  },
  BuildConfig: {
    field: "spec.strategy.sourceStrategy.volumes[0].source",
    make: (volumes) => ({ spec: { strategy: { sourceStrategy: { volumes: inBuild(volumes) } } } }),
  },
};

export const makerOf = (kind: string): Maker =>
  makers[kind] ?? { field: "spec.template.spec.volumes[0]", make: inTemplate };

export const shareVolume = (name: string, csi: JsonObject): JsonObject => ({
  name,
  csi: { driver: shareDriver, ...csi },
});
