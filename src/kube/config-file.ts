/** Kubeconfig files, read and laid over each other. */
import { readFile } from "node:fs/promises";
import { LineCounter, parseDocument } from "yaml";
import { type ConfigLocation, configError, type Section, sectionOf } from "./config-location.ts";
import { problemOf } from "./config-material.ts";

/** The files of one KUBECONFIG as one: the first to name a thing wins, and every entry knows its file. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Section>;
  readonly clusters: ReadonlyMap<string, Section>;
  readonly users: ReadonlyMap<string, Section>;
}

/** A file that is named alone must exist; of a list, those that do not exist are passed over. None left: undefined. */
export async function readKubeconfig(
  files: readonly string[],
  missing: "is wrong" | "is passed over",
): Promise<Kubeconfig | undefined> {
  const read = await Promise.all(files.map((file) => readOne(file, missing)));
  const found = read.filter((one) => one !== undefined);
  if (found.length === 0) return undefined;
  const merged = (pick: (one: Kubeconfig) => ReadonlyMap<string, Section>): ReadonlyMap<string, Section> =>
    new Map(found.toReversed().flatMap((one) => [...pick(one)]));
  return {
    files: found.flatMap((one) => one.files),
    currentContext: found.find((one) => one.currentContext !== undefined)?.currentContext,
    contexts: merged((one) => one.contexts),
    clusters: merged((one) => one.clusters),
    users: merged((one) => one.users),
  };
}

async function readOne(file: string, missing: "is wrong" | "is passed over"): Promise<Kubeconfig | undefined> {
  const spot: ConfigLocation = { file, field: "" };
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (reason) {
    if (missing === "is passed over" && (reason as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw configError(spot, problemOf(reason), "correct --kubeconfig or KUBECONFIG");
  }
  const top = sectionOf(parseYaml(text, spot) ?? {}, spot);
  return {
    files: [file],
    currentContext: top.text("current-context"),
    contexts: named(top, "contexts", "context"),
    clusters: named(top, "clusters", "cluster"),
    users: named(top, "users", "user"),
  };
}

/** The parser's own message may quote the line, and the line may be a token: only the position and the kind of error are reported. */
function parseYaml(text: string, spot: ConfigLocation): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const mistake = document.errors[0];
  if (mistake === undefined) return document.toJS();
  const { line, col } = lineCounter.linePos(mistake.pos[0]);
  const kind = mistake.code.toLowerCase().replaceAll("_", " ");
  throw configError(spot, `line ${line}, column ${col}: not valid YAML (${kind})`, "correct that line");
}

/** `clusters: [{name: a, cluster: {…}}]` as a map from "a" to its section, which knows it is clusters[0].cluster. */
function named(top: Section, plural: string, singular: string): ReadonlyMap<string, Section> {
  const entries = top.list(plural).map((value, index): [string, Section] => {
    const entry = sectionOf(value, { ...top.spot, field: `${plural}[${index}]` });
    const name = entry.text("name");
    if (name === undefined) throw configError(entry.at("name"), "is missing", `give the ${singular} a name`);
    return [name, entry.section(singular) ?? sectionOf({}, entry.at(singular))];
  });
  return new Map(entries.toReversed());
}
