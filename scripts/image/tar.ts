/** Tar archives whose bytes depend on names and contents alone: no times, no users, one order. */

export interface TarFile {
  readonly kind: "file";
  readonly mode: number;
  readonly bytes: Uint8Array;
  /** Extended attributes, by name. */
  readonly attributes?: Readonly<Record<string, Uint8Array>>;
}
export type TarEntry =
  | TarFile
  | { readonly kind: "folder"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

/** Path without a leading slash → entry. */
export type TarTree = ReadonlyMap<string, TarEntry>;

const block = 512;
const flags = { file: "0", link: "2", folder: "5", pax: "x" } as const;

/** Parent folders that are not in the tree are added. */
export function tarOf(tree: TarTree): Buffer {
  const whole = new Map<string, TarEntry>(tree);
  for (const path of tree.keys())
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      const parent = path.slice(0, at);
      if (!whole.has(parent)) whole.set(parent, { kind: "folder", mode: 0o755 });
    }
  const paths = [...whole.keys()].sort((a, b) => (a < b ? -1 : 1));
  const parts = paths.flatMap((path) => entryParts(path, whole.get(path) as TarEntry));
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function entryParts(path: string, entry: TarEntry): readonly Uint8Array[] {
  const name = entry.kind === "folder" ? `${path}/` : path;
  const records = paxRecords(name, entry);
  const bytes = entry.kind === "file" ? entry.bytes : new Uint8Array();
  const mode = entry.kind === "link" ? 0o777 : entry.mode;
  return [
    ...(records.length === 0
      ? []
      : [header("pax", flags.pax, 0o644, records.length), records, padding(records.length)]),
    header(name, flags[entry.kind], mode, bytes.length, entry.kind === "link" ? entry.target : ""),
    bytes,
    padding(bytes.length),
  ];
}

const nameBytesMax = 100;

/** What the fixed fields of a header cannot hold. */
function paxRecords(name: string, entry: TarEntry): Buffer {
  const records: [string, Uint8Array][] = [];
  if (Buffer.byteLength(name) > nameBytesMax) records.push(["path", Buffer.from(name)]);
  if (entry.kind === "link" && Buffer.byteLength(entry.target) > nameBytesMax)
    records.push(["linkpath", Buffer.from(entry.target)]);
  if (entry.kind === "file")
    for (const [key, value] of Object.entries(entry.attributes ?? {})) records.push([`SCHILY.xattr.${key}`, value]);
  return Buffer.concat(records.map(([key, value]) => paxRecord(key, value)));
}

/** "LENGTH key=value\n", where the length counts its own digits. */
function paxRecord(key: string, value: Uint8Array): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from("\n")]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function header(name: string, flag: string, mode: number, size: number, link = ""): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, width: number) =>
    bytes.write(value.toString(8).padStart(width - 1, "0"), at, "latin1");
  bytes.write(name.slice(0, nameBytesMax), 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.fill(" ", 148, 156);
  bytes.write(flag, 156);
  bytes.write(link.slice(0, nameBytesMax), 157);
  bytes.write("ustar\u000000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return bytes;
}

const padding = (length: number): Buffer => Buffer.alloc((block - (length % block)) % block);
