/** The files of deploy/, printed from the rows of src/api/manifests. */
import { stringify } from "yaml";
import {
  type Addition,
  type ComponentRow,
  type Installation,
  type ManifestObject,
  manifestFiles,
} from "../api/manifests/component.ts";
import { webhookRow } from "../api/manifests/webhook.ts";

export const componentRows: readonly ComponentRow[] = [webhookRow];

export const installationOf = (version: string): Installation => ({
  namespace: "snapkeep",
  image: `snapkeep:${version}`,
});

/** Path below deploy/ → text. */
export function deployFiles(installation: Installation): Readonly<Record<string, string>> {
  return Object.fromEntries(
    componentRows.flatMap((row) => [
      ...folder(row.name, manifestFiles(row, installation), {}),
      ...row.additions(installation).flatMap((addition) => additionFolder(row, addition)),
    ]),
  );
}

type Files = NonNullable<Addition["files"]>;
type Entry = readonly [path: string, text: string];

function folder(path: string, files: Files, more: Kustomization, comment?: string): readonly Entry[] {
  return [
    ...files.map((file): Entry => [`${path}/${file.path}`, documents(file.objects)]),
    [`${path}/kustomization.yaml`, kustomization({ resources: files.map((file) => file.path), ...more }, comment)],
  ];
}

function additionFolder({ name }: ComponentRow, { folder: below, why, patch, files = [] }: Addition): readonly Entry[] {
  const path = `${name}-${below}`;
  return patch === undefined
    ? folder(path, files, {}, why)
    : folder(path, files, { resources: [`../${name}`], patches: [{ patch: yaml(patch) }] }, why);
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly patches?: readonly { readonly patch: string }[];
}

const generated = "# Written by `npm run docs` from src/api/manifests; change those.\n";
const yaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
const documents = (objects: readonly ManifestObject[]): string =>
  `${generated}${objects.map((object) => `---\n${yaml(object)}`).join("")}`;
const kustomization = (body: Kustomization, comment?: string): string =>
  `${generated}${comment === undefined ? "" : `# ${comment}\n`}${yaml({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", ...body })}`;
