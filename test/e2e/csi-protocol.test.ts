/** Our protocol file against the one of the CSI specification: every name, number, type and secret mark. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescService,
  fromBinary,
  getOption,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { compiler } from "../../scripts/generate.ts";
import { csi_secret, file_csi } from "../../src/csi/gen/csi_pb.js";
import { temporaryFolder } from "../csi-sockets.ts";
import { moduleFolder } from "./harness/tools.ts";

const run = promisify(execFile);
const specification = "github.com/container-storage-interface/spec";

test("names, numbers, types and csi_secret options are those of CSI 1.12", async (t) => {
  const theirs = factsOf(await specificationFile(t));
  const ours = factsOf(file_csi);
  // Block lists of snapshots: the one service we leave out, with its messages.
  const leftOut = /\.(SnapshotMetadata|BlockMetadata\w*|GetMetadata\w*)\b/;
  assert.deepEqual(
    ours,
    theirs.filter((fact) => !leftOut.test(fact)),
  );
  assert.ok(ours.length > 300, `only ${ours.length} facts were compared`);
  assert.equal(ours.filter((fact) => fact.endsWith(" secret")).length, 17);
});

/** The specification's file, from the Go module that the tests' programs are built with. */
async function specificationFile(t: TestContext): Promise<DescFile> {
  const { stdout } = await run("go", ["mod", "download", "-json", specification], {
    cwd: moduleFolder("sanity"),
    env: { ...process.env, GOFLAGS: "", GOWORK: "off" },
  });
  const { Dir, Version } = JSON.parse(stdout) as { Dir: string; Version: string };
  assert.match(Version, /^v1\.12\./);
  const folder = temporaryFolder(t);
  copyFileSync(join(Dir, "csi.proto"), join(folder, "csi.proto"));
  const output = join(folder, "csi.binpb");
  await run("npx", ["--yes", `--package=${compiler}`, "--", "buf", "build", "--as-file-descriptor-set", "-o", output], {
    cwd: folder,
  });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(output)));
  return registry.getFile("csi.proto") ?? assert.fail("csi.proto was not compiled");
}

/** One sentence per fact, in an order of their own: files may arrange them as they like. */
function factsOf(file: DescFile): readonly string[] {
  return [...nestedTypes(file)]
    .flatMap((type) => {
      if (type.kind === "message") return messageFacts(type);
      if (type.kind === "enum") return enumFacts(type);
      return type.kind === "service" ? serviceFacts(type) : [];
    })
    .sort();
}

const messageFacts = (message: DescMessage): string[] => [
  `message ${message.typeName}`,
  ...message.fields.map(
    (field) => `${message.typeName}.${field.name} = ${field.number} ${typeOf(field)}${markOf(field)}`,
  ),
];

function typeOf(field: DescField): string {
  const oneof = field.oneof === undefined ? "" : ` in ${field.oneof.name}`;
  const item = field.message?.typeName ?? field.enum?.typeName ?? String(field.proto.type);
  const key = field.fieldKind === "map" ? ` by ${field.mapKey} of ${field.mapKind}` : "";
  return `${field.fieldKind} ${item}${key}${oneof}`;
}

const markOf = (field: DescField): string =>
  field.proto.options !== undefined && getOption(field, csi_secret) ? " secret" : "";

const enumFacts = ({ typeName, values }: DescEnum): string[] =>
  values.map(({ name, number }) => `${typeName}.${name} = ${number}`);

const serviceFacts = ({ typeName, methods }: DescService): string[] =>
  methods.map(
    ({ name, methodKind, input, output }) => `${typeName}.${name}(${input.typeName}) ${methodKind} ${output.typeName}`,
  );
