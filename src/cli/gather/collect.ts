/** Reads everything that belongs into a bundle, file by file. What cannot be read is named in the bundle, and the rest goes on. */
import { stringify } from "yaml";
import { Fault, isFault } from "../../base/fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { printableLine } from "../../base/printable.ts";
import { metadataOnly, type PathReader, type TextReader } from "../../kube/api.ts";
import { listPath } from "../../kube/list-path.ts";
import { entriesAt, memberAt } from "../../rules/pod-specs.ts";
import { bundleObject, secretSummary } from "./bundle-object.ts";
import { type ComponentContainer, componentsIn } from "./components.ts";
import { redactLog } from "./redact-text.ts";
import { allPods, type Collected, clusterLists, namedObjects, namespaceLists, settingConfigMaps } from "./tables.ts";

export interface GatherOptions {
  readonly api: PathReader & TextReader;
  /** Namespaces to look into, beside those in which a component was found. */
  readonly namespaces: readonly string[];
  readonly logLinesMax: number;
  readonly version: string;
  readonly signal: AbortSignal;
  write(file: string, text: string): Promise<void>;
  progress(file: string): void;
}

export interface Gathered {
  readonly files: number;
  readonly components: readonly ComponentContainer[];
  /** "file: reason" of each that is missing. */
  readonly problems: readonly string[];
  /** Kinds that the cluster does not have. */
  readonly notServed: readonly string[];
}

/** A value on one line can be searched for. */
const unfolded = { lineWidth: 0 };

export async function gather(options: GatherOptions): Promise<Gathered> {
  const { api, signal } = options;
  const problems: string[] = [];
  const notServed: string[] = [];
  let files = 0;
  const save = async (file: string, text: string): Promise<void> => {
    await options.write(file, text);
    files += 1;
    options.progress(file);
  };
  /** Undefined: it could not be read, and the bundle says so. */
  const attempt = async <T>(file: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (reason) {
      if (signal.aborted) throw reason;
      problems.push(redactLog(`${file}: ${Fault.from(reason).message}`));
      return undefined;
    }
  };
  /** As it stands in the bundle. */
  const list = async (row: Collected): Promise<JsonValue | undefined> => {
    const { file, kind } = row;
    const found = await attempt(`${file}.yaml`, () =>
      readList(row, options).catch((reason: unknown) => {
        if (!isFault(reason, "NotFound")) throw reason;
        notServed.push(kind);
        return undefined;
      }),
    );
    if (found === undefined) return undefined;
    const kept = bundleObject(found, kind);
    await save(`${file}.yaml`, stringify(kept, unfolded));
    return kept;
  };

  const pods = await attempt(allPods.file, () => readList(allPods, options));
  const components = pods === undefined ? [] : componentsIn(pods);
  const namespaces = [...new Set([...components.map(({ namespace }) => namespace), ...options.namespaces])].sort();

  await save("version.txt", `snapkeep ${options.version}\n`);
  const conditions: string[] = [];
  for (const row of clusterLists) {
    const kept = await list(row);
    if (kept !== undefined) conditions.push(...conditionLines(kept, row.kind));
  }
  await gatherNamed();
  await save("conditions.txt", conditions.join(""));
  for (const namespace of namespaces) await gatherNamespace(namespace);
  for (const component of components) await gatherComponent(component);
  await save("not-served.txt", notServed.map(printableLine).join(""));
  await save("problems.txt", problems.map(printableLine).join(""));
  return { files, components, problems, notServed };

  async function gatherNamed(): Promise<void> {
    for (const [file, rows] of Map.groupBy(namedObjects, (row) => row.file)) {
      const items: JsonValue[] = [];
      for (const { path, kind } of rows) {
        const found = await attempt(`${file}.yaml`, () => api.getPath(path, { signal }).catch(unlessMissing));
        if (found !== undefined) items.push(bundleObject(found, kind));
      }
      await save(`${file}.yaml`, stringify({ kind: `${rows[0]?.kind}List`, items }, unfolded));
    }
  }

  async function gatherNamespace(namespace: string): Promise<void> {
    for (const row of namespaceLists(namespace)) await list(row);
    const folder = `namespaces/${namespace}`;
    const at = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
    for (const name of settingConfigMaps) {
      const found = await api.getPath(`${at}/configmaps/${name}`, { signal }).catch(() => undefined);
      if (found !== undefined)
        await save(`${folder}/configmaps/${name}.yaml`, stringify(bundleObject(found, "ConfigMap"), unfolded));
    }
    const secrets = await attempt(`${folder}/secrets.yaml`, () =>
      // Their data is not even sent.
      listPath(api, `${at}/secrets`, { signal, accept: metadataOnly.list }),
    );
    if (secrets !== undefined)
      await save(`${folder}/secrets.yaml`, stringify(entriesAt(secrets, ["items"]).map(secretSummary), unfolded));
  }

  async function gatherComponent({
    namespace,
    pod,
    container,
    hasPrevious,
    statusPort,
    hasRecords,
  }: ComponentContainer) {
    const folder = `components/${namespace}/${pod}/${container}`;
    const at = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
    const text = async (file: string, path: string): Promise<void> => {
      const found = await attempt(file, () => api.getText(path, { signal }));
      if (found !== undefined) await save(file, redactLog(found));
    };
    const page = (name: string): string =>
      `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(`${pod}:${statusPort}`)}/proxy/${name}`;
    // Asked before the log is read: it writes the records there.
    if (hasRecords && statusPort !== undefined) await text(`${folder}/volumes.txt`, page("volumes"));
    const log = `${at}/log?container=${encodeURIComponent(container)}&timestamps=true&tailLines=${options.logLinesMax}`;
    await text(`${folder}/current.log`, log);
    if (hasPrevious) await text(`${folder}/previous.log`, `${log}&previous=true`);
    if (statusPort !== undefined) await text(`${folder}/metrics.txt`, page("metrics"));
  }
}

const unlessMissing = (reason: unknown): undefined => {
  if (!isFault(reason, "NotFound")) throw reason;
};

/** Reads the named namespaces one by one, where all of them together may not be read. */
async function readList(
  { path, pathIn }: Collected,
  { api, namespaces, signal }: Pick<GatherOptions, "api" | "namespaces" | "signal">,
): Promise<JsonValue> {
  try {
    return await listPath(api, path, { signal });
  } catch (reason) {
    if (!isFault(reason, "PermissionDenied") || pathIn === undefined) throw reason;
    if (namespaces.length === 0) throw new Fault(reason.code, `${reason.message}; --namespace reads single namespaces`);
    const lists: JsonValue[] = [];
    for (const namespace of namespaces) lists.push(await listPath(api, pathIn(namespace), { signal }));
    return { items: lists.flatMap((list) => entriesAt(list, ["items"])) };
  }
}

/** One line per condition, or per object that has an error: what a person reads first. */
const conditionLines = (list: JsonValue, kind: string): readonly string[] =>
  entriesAt(list, ["items"])
    .filter(isObject)
    .flatMap((item) => linesOf(item, kind));

function linesOf(object: JsonObject, kind: string): readonly string[] {
  const namespace = memberAt(object, ["metadata", "namespace"]);
  const name = `${kind} ${typeof namespace === "string" ? `${namespace}/` : ""}${String(memberAt(object, ["metadata", "name"]))}`;
  const conditions = entriesAt(object, ["status", "conditions"])
    .filter(isObject)
    .map(
      ({ type, status, reason = "", message = "" }) =>
        `${String(type)}=${String(status)} ${String(reason)}: ${String(message)}`,
    );
  const error = memberAt(object, ["status", "error", "message"]);
  return [...conditions, ...(typeof error === "string" ? [`error: ${error}`] : [])].map((line) =>
    printableLine(`${name} ${line}`),
  );
}
