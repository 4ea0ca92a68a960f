/** An OCI image layout as one tar archive: blobs by their digests, and an index that names the images. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type TarTree, tarOf } from "./tar.ts";

export interface Platform {
  readonly architecture: string;
  readonly os: "linux";
}

export interface ImageSpec {
  /** For example snapkeep:0.2.0. */
  readonly name: string;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly created: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly platforms: readonly { readonly platform: Platform; readonly layers: readonly Layer[] }[];
}

export interface Layer {
  readonly title: string;
  /** The digest of the uncompressed archive. */
  readonly diffId: string;
  readonly blob: Buffer;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const media = (kind: string): string => `application/vnd.oci.image.${kind}`;
const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const gzipLevel = 9;

/** Compressing Node takes seconds: the result is kept by what it was made from. */
export function layerOf(title: string, tree: TarTree, cache: string): Layer {
  const archive = tarOf(tree);
  const diffId = digestOf(archive);
  const path = join(cache, `layer-${diffId.slice("sha256:".length)}-zlib-${process.versions.zlib}-${gzipLevel}.gz`);
  if (existsSync(path)) return { title, diffId, blob: readFileSync(path) };
  const blob = gzipSync(archive, { level: gzipLevel });
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${path}.${process.pid}`, blob);
  renameSync(`${path}.${process.pid}`, path);
  return { title, diffId, blob };
}

/** The archive, and the digest of each image by its name. */
export function ociArchive(images: readonly ImageSpec[]): {
  readonly archive: Buffer;
  readonly digests: Readonly<Record<string, string>>;
} {
  const blobs = new Map<string, Uint8Array>();
  const keep = (mediaType: string, bytes: Uint8Array): Descriptor => {
    const digest = digestOf(bytes);
    blobs.set(`blobs/${digest.replace(":", "/")}`, bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const keepJson = (mediaType: string, value: unknown): Descriptor =>
    keep(mediaType, Buffer.from(JSON.stringify(value)));
  const manifests = images.map((image) => {
    const ofPlatforms = image.platforms.map(({ platform, layers }) => ({
      ...keepJson(media("manifest.v1+json"), {
        schemaVersion: 2,
        mediaType: media("manifest.v1+json"),
        config: keepJson(media("config.v1+json"), configOf(image, platform, layers)),
        layers: layers.map(({ blob, title }) => ({
          ...keep(media("layer.v1.tar+gzip"), blob),
          annotations: { "org.opencontainers.image.title": title },
        })),
        annotations: image.labels,
      }),
      platform,
    }));
    const index = { schemaVersion: 2, mediaType: media("index.v1+json"), manifests: ofPlatforms };
    return {
      ...keepJson(media("index.v1+json"), index),
      annotations: {
        "org.opencontainers.image.ref.name": image.tag,
        "io.containerd.image.name": image.name,
      },
    };
  });
  const files: [string, Uint8Array][] = [
    ["oci-layout", Buffer.from(JSON.stringify({ imageLayoutVersion: "1.0.0" }))],
    ["index.json", Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: media("index.v1+json"), manifests }))],
    ...blobs,
  ];
  const tree: TarTree = new Map(files.map(([path, bytes]) => [path, { kind: "file", mode: 0o644, bytes }]));
  const digests = Object.fromEntries(images.map(({ name }, index) => [name, manifests[index]?.digest ?? ""]));
  return { archive: tarOf(tree), digests };
}

const configOf = (
  { created, config, labels }: ImageSpec,
  { architecture, os }: Platform,
  layers: readonly Layer[],
) => ({
  created,
  architecture,
  os,
  config: { ...config, Labels: labels },
  rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
  history: layers.map(({ title }) => ({ created, created_by: title })),
});
