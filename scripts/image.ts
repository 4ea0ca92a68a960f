/**
 * `npm run image`: the container image as an OCI archive, without Docker, for amd64 and arm64 under two tags: VERSION, and
 * VERSION-driver with the programs that drivers run. Two builds of one commit have the same digest. Needs dpkg-deb and Go.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Architecture, architectures, driverPackages, plainPackages } from "./image/contents.ts";
import { lockedPackages, nodeFiles, ownFiles, programFiles, systemFiles, user } from "./image/files.ts";
import { currentPackages } from "./image/lock.ts";
import { type ImageSpec, type Layer, layerOf, ociArchive } from "./image/oci.ts";
import { cacheFolder, writeTree } from "./image/sources.ts";
import { type Part, spdx } from "./sbom.ts";
import { sourceOf } from "./source.ts";

const root = resolve(import.meta.dirname, "..");
const title = "org.opencontainers.image";
const { values } = parseArgs({
  options: {
    out: { type: "string", default: "dist-image" },
    architecture: { type: "string", multiple: true, default: Object.keys(architectures) },
    /** The files in folders instead of an archive, for image/Dockerfile. */
    folders: { type: "boolean", default: false },
    "update-packages": { type: "boolean", default: false },
  },
});

if (values["update-packages"]) updatePackages();
else if (values.folders) await writeFolders(resolve(root, values.out));
else await buildImage(resolve(root, values.out));

function updatePackages(): void {
  const byFile = new Map(currentPackages().map((item) => [item.path, item]));
  const snapshot = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const lock = { snapshot, packages: [...byFile.values()] };
  writeFileSync(resolve(root, "image/packages.json"), `${JSON.stringify(lock, undefined, 2)}\n`);
}

function prepare(out: string) {
  const file = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as {
    version: string;
    devDependencies: { node: string };
  };
  const dist = resolve(out, "dist");
  execFileSync(process.execPath, [resolve(root, "scripts/build.ts"), dist], { stdio: ["ignore", "ignore", "inherit"] });
  return {
    version: file.version,
    nodeVersion: file.devDependencies.node,
    source: sourceOf(root),
    dist,
    registry: process.env.npm_config_registry ?? "https://registry.npmjs.org/",
  };
}

async function writeFolders(out: string): Promise<void> {
  const { version, nodeVersion, source, dist, registry } = prepare(out);
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  const sbom = imageSbom(version, source.created, dist, architecture, nodeVersion);
  const plain = [
    await systemFiles(architecture),
    await nodeFiles(architecture, nodeVersion, registry),
    ownFiles(architecture, dist, sbom),
  ];
  for (const files of plain) writeTree(resolve(out, "plain"), files);
  writeTree(resolve(out, "programs"), await programFiles(architecture));
}

async function buildImage(out: string): Promise<void> {
  const { version, nodeVersion, source, dist, registry } = prepare(out);
  const platforms: { architecture: Architecture; plain: Layer[]; driver: Layer[] }[] = [];
  for (const architecture of values.architecture as Architecture[]) {
    const layer = (title: string, files: Parameters<typeof layerOf>[1]) => layerOf(title, files, cacheFolder);
    const system = layer("Debian libraries and certificates", await systemFiles(architecture));
    const node = layer(`Node ${nodeVersion}`, await nodeFiles(architecture, nodeVersion, registry));
    const programs = layer("programs of drivers", await programFiles(architecture));
    const sbom = imageSbom(version, source.created, dist, architecture, nodeVersion);
    const bundle = layer("snapkeep", ownFiles(architecture, dist, sbom));
    writeFileSync(resolve(out, `snapkeep-${version}-${architecture}.spdx.json`), sbom);
    platforms.push({ architecture, plain: [system, node, bundle], driver: [system, node, programs, bundle] });
  }
  const images = (["plain", "driver"] as const).map((kind) => imageSpec(kind, version, source, platforms));
  const { archive, digests } = ociArchive(images);
  mkdirSync(out, { recursive: true });
  const file = resolve(out, `snapkeep-${version}.oci.tar`);
  writeFileSync(file, archive);
  report(file, images, digests);
}

function imageSpec(
  kind: "plain" | "driver",
  version: string,
  { revision, created }: { readonly revision: string; readonly created: string },
  platforms: readonly { readonly architecture: Architecture; readonly plain: Layer[]; readonly driver: Layer[] }[],
): ImageSpec {
  const tag = kind === "plain" ? version : `${version}-driver`;
  return {
    name: `docker.io/library/snapkeep:${tag}`,
    tag,
    created,
    labels: {
      [`${title}.title`]: "snapkeep",
      [`${title}.version`]: version,
      [`${title}.revision`]: revision,
      [`${title}.licenses`]: "Apache-2.0",
    },
    config: {
      User: `${user}:${user}`,
      Env: ["PATH=/usr/bin:/bin:/usr/sbin:/sbin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
      Entrypoint: ["/usr/bin/snapkeep"],
      WorkingDir: "/",
    },
    platforms: platforms.map(({ architecture, [kind]: layers }) => ({
      platform: { architecture, os: "linux" },
      layers,
    })),
  };
}

/** One list serves both tags: the driver's programs are in the list of either. */
function imageSbom(version: string, created: string, dist: string, architecture: Architecture, node: string): string {
  interface Listed {
    readonly packages: readonly {
      readonly name: string;
      readonly versionInfo: string;
      readonly licenseDeclared: string;
      readonly externalRefs: readonly { readonly referenceLocator: string }[];
    }[];
  }
  const bundled = (JSON.parse(readFileSync(resolve(dist, "sbom.spdx.json"), "utf8")) as Listed).packages
    .filter(({ name }) => name !== "snapkeep")
    .map(({ name, versionInfo, licenseDeclared, externalRefs }) => ({
      name,
      version: versionInfo,
      license: licenseDeclared,
      purl: externalRefs[0]?.referenceLocator.replace(/@[^@]*$/, "") ?? "",
    }));
  const names = Object.keys({ ...plainPackages, ...driverPackages });
  const debian = lockedPackages(architecture, names).map(({ name, version: exact, sha256 }) => ({
    name,
    version: exact,
    license: "",
    purl: `pkg:deb/debian/${encodeURIComponent(name)}`,
    sha256,
  }));
  const parts: readonly Part[] = [
    { name: "node", version: node, license: "MIT", purl: "pkg:generic/node" },
    ...bundled,
    ...debian,
  ];
  return spdx({ name: `snapkeep-image-${architecture}`, version, created, parts });
}

function report(file: string, images: readonly ImageSpec[], digests: Readonly<Record<string, string>>): void {
  console.log(relative(root, file));
  for (const { name, tag, platforms } of images) {
    const sizes = platforms.map(({ platform, layers }) => {
      const bytes = layers.reduce((sum, { blob }) => sum + blob.length, 0);
      return `${platform.architecture} ${(bytes / 1e6).toFixed(1)} MB`;
    });
    console.log(`snapkeep:${tag}  ${sizes.join(", ")}  ${digests[name]}`);
  }
}
