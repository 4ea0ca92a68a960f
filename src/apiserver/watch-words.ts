/** Watch events as the lines clients read: {"type":"ADDED","object":{…}}. */
import { type JsonObject, print } from "../base/json.ts";
import { type IncludeObject, partialMetadata, tableOf } from "./answer.ts";
import type { ApiObject, Resource, Stored } from "./contracts.ts";
import { fromStored } from "./convert.ts";
import type { Form } from "./negotiate.ts";
import { apiVersionOf } from "./rows.ts";
import type { Refusal } from "./status.ts";

export type EventType = "ADDED" | "MODIFIED" | "DELETED";
const initialEventsEnd = "k8s.io/initial-events-end";

export interface WatchForm {
  readonly form: Form;
  readonly include: IncludeObject;
  now(): number;
}

export interface Wording {
  /** Lines of the same key say the same for the same event, whoever reads them; undefined: every reader has its own. */
  readonly key: string | undefined;
  event(type: EventType, stored: Stored): string;
  bookmark(version: number, endOfInitial: boolean): string;
  error(refusal: Refusal): string;
}

const line = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

export function createWording(resource: Resource, { form, include, now }: WatchForm): Wording {
  const apiVersion = apiVersionOf(resource.group, resource.version);
  let headersSent = false;

  function objectText(stored: Stored): string {
    const object = fromStored(resource, stored.object);
    switch (form.kind) {
      case "object":
        return object === stored.object ? stored.text() : print(object);
      case "Table":
        return tableText([object], { resourceVersion: object.metadata.resourceVersion });
      default:
        return print(partialMetadata(object, form.version));
    }
  }

  /** Columns come with the first table only. */
  function tableText(objects: readonly ApiObject[], metadata: JsonObject): string {
    const version = form.kind === "object" ? "v1" : form.version;
    const table = tableOf(resource, objects, metadata, version, { include, now: now(), headers: !headersSent });
    if (headersSent) table.columnDefinitions = null;
    headersSent = true;
    return print(table);
  }

  function bookmarkText(version: number, endOfInitial: boolean): string {
    const metadata = {
      resourceVersion: String(version),
      ...(endOfInitial ? { annotations: { [initialEventsEnd]: "true" } } : {}),
    };
    if (form.kind === "object") return print({ kind: resource.kind, apiVersion, metadata });
    if (form.kind !== "Table")
      return print({ kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${form.version}`, metadata });
    const marker = { kind: resource.kind, apiVersion, metadata } as unknown as ApiObject;
    return tableText([marker], { resourceVersion: String(version) });
  }

  const version = form.kind === "object" ? "" : form.version;
  return {
    key: form.kind === "Table" ? undefined : `${apiVersion} ${form.kind} ${version}`,
    event: (type, stored) => line(type, objectText(stored)),
    bookmark: (at, endOfInitial) => line("BOOKMARK", bookmarkText(at, endOfInitial)),
    error: ({ status }) => line("ERROR", print(status)),
  };
}
