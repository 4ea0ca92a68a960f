/** What a request asks for in its query string: parsed and judged as Kubernetes does, one function per kind of options. */

import { forbidden, invalid as invalidField, notSupported, required, tooLong } from "../schema/field-error.ts";
import type { FieldError } from "./contracts.ts";
import { type FieldSelector, type LabelSelector, parseFieldSelector, parseLabelSelector } from "./selectors.ts";
import { badRequest, invalid } from "./status.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface WriteQuery {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
}

export interface ListQuery {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  readonly watch: boolean;
  readonly bookmarks: boolean;
  readonly resourceVersion: string;
  readonly match: "" | "Exact" | "NotOlderThan";
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly sendInitialEvents: boolean | undefined;
}

const fieldManagerBytesMax = 128;
const metaGroup = "meta.k8s.io";

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^[-+]?\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** Go's rule for a flag in a query: anything but "false" and "0" means yes, also the empty string. */
function flagIn(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text !== "false" && text !== "0";
}

export function writeQuery(query: URLSearchParams, kind: "CreateOptions" | "UpdateOptions"): WriteQuery {
  return checked(query, kind, []);
}

export function patchQuery(query: URLSearchParams, apply: boolean): WriteQuery {
  const errors: FieldError[] = [];
  if (apply && (query.get("fieldManager") ?? "") === "")
    errors.push(required("fieldManager", "is required for apply patch"));
  if (!apply && query.has("force")) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  return checked(query, "PatchOptions", errors);
}

function checked(query: URLSearchParams, kind: string, before: readonly FieldError[]): WriteQuery {
  const fieldManager = query.get("fieldManager") ?? "";
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors = [...before, ...fieldManagerErrors(fieldManager), ...dryRunErrors(dryRun)];
  if (!isFieldValidation(fieldValidation))
    errors.push(notSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]));
  if (errors.length > 0 || !isFieldValidation(fieldValidation)) throw invalid({ group: metaGroup, kind }, "", errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === "" ? "Warn" : fieldValidation,
    force: flagIn(query, "force") ?? false,
  };
}

const isFieldValidation = (text: string): text is FieldValidation | "" =>
  text === "" || text === "Ignore" || text === "Warn" || text === "Strict";

export const dryRunErrors = (dryRun: readonly string[]): readonly FieldError[] =>
  dryRun.every((value) => value === "All") ? [] : [notSupported("dryRun", dryRun, ["All"])];

const plainManager = /^[ -~]{0,128}$/;

function fieldManagerErrors(manager: string): readonly FieldError[] {
  if (plainManager.test(manager)) return [];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > fieldManagerBytesMax) errors.push(tooLong("fieldManager", fieldManagerBytesMax));
  for (const { 0: character, index } of manager.matchAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu))
    errors.push(
      invalidField("fieldManager", manager, `invalid character ${codePointText(character)} (at position ${index})`),
    );
  return errors;
}

const codePointText = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

export function listQuery(query: URLSearchParams): ListQuery {
  const asked = {
    labels: parseLabelSelector(query.get("labelSelector") ?? ""),
    fields: parseFieldSelector(query.get("fieldSelector") ?? ""),
    watch: flagIn(query, "watch") ?? false,
    bookmarks: flagIn(query, "allowWatchBookmarks") ?? false,
    resourceVersion: query.get("resourceVersion") ?? "",
    match: query.get("resourceVersionMatch") ?? "",
    limit: numberIn(query, "limit") ?? 0,
    continue: query.get("continue") ?? "",
    timeoutSeconds: numberIn(query, "timeoutSeconds"),
    sendInitialEvents: flagIn(query, "sendInitialEvents"),
  };
  const wanted = asked.watch ? withWatchDefaults(asked) : asked;
  const errors = wanted.watch ? watchErrors(wanted) : listErrors(wanted);
  if (errors.length > 0 || !isMatch(wanted.match)) throw invalid({ group: metaGroup, kind: "ListOptions" }, "", errors);
  return { ...wanted, match: wanted.match };
}

type Asked = Omit<ListQuery, "match"> & { readonly match: string };
const isMatch = (text: string): text is ListQuery["match"] =>
  text === "" || text === "Exact" || text === "NotOlderThan";

/** A watch from nowhere in particular begins with what there is. */
function withWatchDefaults(asked: Asked): Asked {
  const legacy = asked.resourceVersion === "" || asked.resourceVersion === "0";
  if (!legacy || asked.sendInitialEvents !== undefined || asked.match !== "") return asked;
  return { ...asked, sendInitialEvents: true, match: "NotOlderThan" };
}

function listErrors(asked: Asked): readonly FieldError[] {
  const errors: FieldError[] = [];
  const field = "resourceVersionMatch";
  if (asked.match !== "") {
    if (asked.resourceVersion === "")
      errors.push(forbidden(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (asked.continue !== "")
      errors.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
    if (!isMatch(asked.match)) errors.push(notSupported(field, asked.match, ["Exact", "NotOlderThan", ""]));
    if (asked.match === "Exact" && asked.resourceVersion === "0")
      errors.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (asked.sendInitialEvents !== undefined)
    errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return errors;
}

function watchErrors(asked: Asked): readonly FieldError[] {
  const errors: FieldError[] = [];
  const field = "resourceVersionMatch";
  if (asked.sendInitialEvents !== undefined && asked.match !== "NotOlderThan")
    errors.push(forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (asked.match === "") return errors;
  if (asked.sendInitialEvents === undefined)
    errors.push(forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  if (asked.match !== "NotOlderThan") errors.push(notSupported(field, asked.match, ["NotOlderThan"]));
  if (asked.continue !== "")
    errors.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}
