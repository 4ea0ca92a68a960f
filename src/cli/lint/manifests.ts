/** Manifests as people keep them: files of several YAML or JSON documents, Lists, and templates of claims inside of workloads. */
import { type Document, LineCounter, parseAllDocuments } from "yaml";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { entriesAt, memberAt, podVolumes } from "../../rules/pod-specs.ts";

export interface FileToLint {
  /** As the user named it; "-" is standard input. */
  readonly path: string;
  readonly text: string;
  /** Why there is no text: the file could not be read. */
  readonly problem?: string;
}

/** One object of a file, or a claim that a workload is going to create. */
export interface Manifest {
  readonly file: string;
  readonly object: JsonObject;
  /** The workload that is going to create this claim. */
  readonly owner: JsonObject | undefined;
  /** Where the object stands in its document: "" or "spec.volumeClaimTemplates[0]." */
  readonly prefix: string;
  /** The line of a field like "spec.source", or of what is nearest to it. */
  lineOf(field: string): number;
}

export interface Unreadable {
  readonly file: string;
  readonly line: number;
  /** With its verb: "is neither YAML nor JSON: …". */
  readonly message: string;
}

export interface ReadManifests {
  readonly manifests: readonly Manifest[];
  readonly unreadable: readonly Unreadable[];
}

export function readManifests(files: readonly FileToLint[]): ReadManifests {
  const manifests: Manifest[] = [];
  const unreadable: Unreadable[] = [];
  for (const { path, document, lines, broken } of documentsOf(files, unreadable))
    manifests.push(...manifestsIn(path, document, lines, broken));
  return { manifests, unreadable };
}

/** A document as it stands, where its integers are kept whatever their size. */
export interface ReadDocument {
  readonly file: string;
  readonly value: unknown;
}

export function readDocuments(files: readonly FileToLint[]): {
  readonly documents: readonly ReadDocument[];
  readonly unreadable: readonly Unreadable[];
} {
  const documents: ReadDocument[] = [];
  const unreadable: Unreadable[] = [];
  for (const { path, document, broken } of documentsOf(files, unreadable, { intAsBigInt: true })) {
    const value = wholeOf(document, broken);
    if (value !== undefined) documents.push({ file: path, value });
  }
  return { documents, unreadable };
}

function* documentsOf(files: readonly FileToLint[], unreadable: Unreadable[], how: { intAsBigInt?: true } = {}) {
  for (const { path, text, problem } of files) {
    const lines = new LineCounter();
    const broken = (offset: number, message: string): void => {
      unreadable.push({ file: path, line: Math.max(1, lines.linePos(offset).line), message });
    };
    if (problem !== undefined) broken(0, problem);
    else
      for (const document of documentsIn(text, lines, broken, how)) {
        const [error] = document.errors;
        if (error !== undefined) broken(error.pos[0], notYaml(error));
        else yield { path, document, lines, broken };
      }
  }
}

type Broken = (offset: number, message: string) => void;

function documentsIn(
  text: string,
  lineCounter: LineCounter,
  broken: Broken,
  how: { intAsBigInt?: true },
): readonly Document.Parsed[] {
  try {
    // Not the strict check of keys: it compares each with every other, and the API server takes the last one too.
    const documents = parseAllDocuments(text, { lineCounter, uniqueKeys: false, logLevel: "silent", ...how });
    return Array.isArray(documents) ? documents : [];
  } catch (reason) {
    broken(0, cannotBeRead(reason));
    return [];
  }
}

const notYaml = ({ message }: Error): string => `is neither YAML nor JSON: ${firstLine(message)}`;
/** Nested too deeply, or with aliases that stand for more than anybody writes. */
const cannotBeRead = (reason: unknown): string =>
  `cannot be read: ${reason instanceof RangeError ? "it is nested too deeply" : firstLine(String((reason as Error).message))}`;

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

type Step = string | number;

/** All aliases of a document together stand for at most so many nodes. */
const aliasesMax = 100;

/** Undefined: it is broken, or there is nothing. */
function wholeOf(document: Document.Parsed, broken: Broken): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasesMax }) ?? undefined;
  } catch (reason) {
    broken(document.range[0], cannotBeRead(reason));
    return undefined;
  }
}

function* manifestsIn(
  file: string,
  document: Document.Parsed,
  lines: LineCounter,
  broken: Broken,
): Generator<Manifest> {
  const whole = wholeOf(document, broken);
  const lineOf = (steps: readonly Step[]): number => {
    for (let length = steps.length; length >= 0; length -= 1) {
      const node = document.getIn(steps.slice(0, length), true) as { range?: readonly number[] } | undefined;
      if (node?.range?.[0] !== undefined) return lines.linePos(node.range[0]).line;
    }
    return lines.linePos(document.range[0]).line;
  };
  for (const { object, steps, owner } of objectsIn(whole, []))
    yield { file, object, owner, prefix: prefixOf(steps), lineOf: (field) => lineOf([...steps, ...stepsOf(field)]) };
}

interface Found {
  readonly object: JsonObject;
  readonly steps: readonly Step[];
  readonly owner?: JsonObject;
}

/** The object itself, the items of a List, and the claims of a workload. */
function* objectsIn(value: unknown, steps: readonly Step[]): Generator<Found> {
  if (!isObject(value)) return;
  const { items } = value;
  if (Array.isArray(items) && String(value.kind ?? "").endsWith("List")) {
    for (const [index, item] of items.entries()) yield* objectsIn(item, [...steps, "items", index]);
    return;
  }
  yield { object: value, steps };
  yield* claimsIn(value, steps);
}

function* claimsIn(workload: JsonObject, steps: readonly Step[]): Generator<Found> {
  const kind = String(workload.kind ?? "");
  if (kind === "StatefulSet")
    for (const [index, template] of entriesAt(workload, ["spec", "volumeClaimTemplates"]).entries())
      yield* claim(workload, template, [...steps, "spec", "volumeClaimTemplates", index]);
  for (const { path, volume } of podVolumes(workload))
    yield* claim(workload, memberAt(volume, ["ephemeral", "volumeClaimTemplate"]), [
      ...steps,
      ...path,
      "ephemeral",
      "volumeClaimTemplate",
    ]);
}

/** It is created in the namespace of the workload, whatever the template says. */
function* claim(workload: JsonObject, template: JsonValue | undefined, steps: readonly Step[]): Generator<Found> {
  if (!isObject(template)) return;
  const namespace = memberAt(workload, ["metadata", "namespace"]);
  const metadata = {
    ...(isObject(template.metadata) ? template.metadata : {}),
    ...(namespace === undefined ? {} : { namespace }),
  };
  yield { object: { apiVersion: "v1", kind: "PersistentVolumeClaim", ...template, metadata }, steps, owner: workload };
}

const prefixOf = (steps: readonly Step[]): string =>
  steps.length === 0
    ? ""
    : `${steps
        .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
        .join("")
        .slice(1)}.`;

const stepsOf = (field: string): readonly Step[] =>
  [...field.matchAll(/\[([^\]]+)\]|([^.[\]]+)/g)].map(([, inBrackets, name]) =>
    inBrackets !== undefined && /^\d+$/.test(inBrackets) ? Number(inBrackets) : (inBrackets ?? name ?? ""),
  );
