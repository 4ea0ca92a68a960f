/** Which pods of a cluster run our components, and which of their containers can be asked. Pure. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { entriesAt, memberAt } from "../../rules/pod-specs.ts";

export interface ComponentContainer {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Has been restarted: its last log may say why. */
  readonly hasPrevious: boolean;
  /** The port of --http-endpoint; undefined: the container serves no metrics. */
  readonly statusPort: string | undefined;
  /** The node driver of shares, which keeps a record of each volume. */
  readonly hasRecords: boolean;
}

const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
const texts = (value: JsonValue, name: string): readonly string[] => entriesAt(value, [name]).map(text);

/** The label of our manifests tells them, or, in somebody else's manifest, what the container runs. */
export function componentsIn(pods: JsonValue): readonly ComponentContainer[] {
  return entriesAt(pods, ["items"]).flatMap((pod) => {
    if (!isObject(pod)) return [];
    const isOurs = text(memberAt(pod, ["metadata", "labels", "app.kubernetes.io/name"])) === "snapkeep";
    return entriesAt(pod, ["spec", "containers"])
      .filter(isObject)
      .filter((container) => isOurs || runsSnapkeep(container))
      .map((container) => componentOf(pod, container));
  });
}

function runsSnapkeep(container: JsonObject): boolean {
  const words = [...texts(container, "command"), ...texts(container, "args")];
  return /(^|[/-])snapkeep([@:-]|$)/.test(text(container.image)) || words.some((word) => /snapkeep(\.js)?$/.test(word));
}

const isNodeDriver = (words: readonly string[]): boolean =>
  words.includes("shared-resource") && !words.some((word) => /^--?mode=controller$/.test(word));

function componentOf(pod: JsonObject, container: JsonObject): ComponentContainer {
  const name = text(container.name);
  const endpoint = /^--?(?:http-endpoint|metrics-address)=.*:(\d+)$/;
  const port = texts(container, "args").flatMap((word) => endpoint.exec(word)?.[1] ?? []);
  const status = entriesAt(pod, ["status", "containerStatuses"]).find((entry) => memberAt(entry, ["name"]) === name);
  return {
    namespace: text(memberAt(pod, ["metadata", "namespace"])),
    pod: text(memberAt(pod, ["metadata", "name"])),
    container: name,
    hasPrevious: Number(memberAt(status, ["restartCount"]) ?? 0) > 0,
    statusPort: port[0],
    hasRecords: isNodeDriver([...texts(container, "command"), ...texts(container, "args")]),
  };
}
