/**
 * The entries of a running server in a user's kubeconfig: a cluster, a user and a context of one name. They are inserted into the
 * text, so that removing them gives back every byte of what was there: comments, order and quotes of others are never rewritten.
 */
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, type Scalar, type YAMLMap } from "yaml";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { isOwner, type Owner } from "../owner.ts";
import { applied, cutItem, type Edit, endOfLine, insertedList, type Restored, restoredList } from "./edits.ts";

/** Which run an entry belongs to, and what to put back when it is removed. Stored in the entry, so that any later run can do it. */
export interface Mark extends Owner {
  /** The folder of the run: a process can have several runs. */
  readonly run: string;
  /** The file was created for this entry. */
  readonly created?: true;
  /** The document was empty before. */
  readonly document?: true;
  /** The list was not there, or held this text in place of a list. */
  readonly list?: Restored;
  /** The current context before. */
  readonly current?: string;
}

export interface Entry {
  readonly cluster: JsonObject;
  readonly user: JsonObject;
  readonly mark: Mark;
}

const lists = { clusters: "cluster", users: "user", contexts: "context" } as const;
type ListName = keyof typeof lists;
const listNames = Object.keys(lists) as readonly ListName[];
const extensionName = "snapkeep.dev/run";
const baseName = "snapkeep";

/** The text with the entry in it, and the name it got: the first free one of snapkeep, snapkeep-2, … */
export function addEntry(text: string, entry: Entry): { readonly text: string; readonly name: string } {
  const document = read(text);
  const name = freeName(document);
  const context = { cluster: name, user: name };
  const item = (list: ListName, mark: Mark): JsonObject => {
    const values = { clusters: entry.cluster, users: entry.user, contexts: context };
    const extensions = [{ name: extensionName, extension: { ...mark } }];
    return { name, [lists[list]]: { ...values[list], extensions } };
  };
  const current = document.get("current-context");
  const mark: Mark = { ...entry.mark, ...(typeof current === "string" ? { current } : {}) };
  const added = isMap(document.contents)
    ? applied(
        text,
        listNames.flatMap((list) => insertion(text, document, list, mark, item)),
      )
    : wholeDocument(text, name, { ...mark, document: true }, item);
  // Whatever the file looked like: either all of it comes back, or it is not touched.
  if (removeEntries(added, ({ run }) => run === mark.run) !== text)
    throw new Fault(
      "FailedPrecondition",
      "it is written in a way that entries cannot be added to and removed from again",
    );
  return { text: added, name };
}

type Item = (list: ListName, mark: Mark) => JsonObject;

function insertion(text: string, document: Document, list: ListName, mark: Mark, item: Item): readonly Edit[] {
  const inherited = inheritedFrom(document, list);
  return insertedList(text, document.contents as YAMLMap, list, (restored) =>
    JSON.stringify(item(list, { ...mark, ...inherited, ...(restored === undefined ? {} : { list: restored }) })),
  );
}

/** In a list that holds only entries of ours, the last one to go must know what was there before the first came. */
function inheritedFrom(document: Document, list: ListName): Partial<Mark> {
  const marks = itemsOf(document, list).map(markOf);
  const [first] = marks;
  if (first === undefined || marks.includes(undefined)) return {};
  const { created, document: whole, list: restored } = first;
  return {
    ...(created === undefined ? {} : { created }),
    ...(whole === undefined ? {} : { document: whole }),
    ...(restored === undefined ? {} : { list: restored }),
  };
}

function wholeDocument(text: string, name: string, mark: Mark, item: Item): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    ...Object.fromEntries(listNames.map((list) => [list, [item(list, mark)]])),
    "current-context": name,
  };
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  return applied(text, [{ start, end: start, text: `${JSON.stringify(config)}${endOfLine(text)}` }]);
}

/** The text without the entries that are chosen by their marks. */
export function removeEntries(text: string, chosen: (mark: Mark) => boolean): string {
  let left = text;
  for (;;) {
    const next = withoutOne(left, chosen);
    if (next === undefined) return left;
    left = next;
  }
}

/** One entry less, or undefined when there is none. */
function withoutOne(text: string, chosen: (mark: Mark) => boolean): string | undefined {
  const document = read(text);
  const emptied = withoutDocument(text, document, chosen);
  if (emptied !== undefined) return emptied;
  for (const list of listNames) {
    const items = itemsOf(document, list);
    const index = items.findIndex((item) => isChosen(item, chosen));
    const mark = markOf(items[index]);
    if (mark === undefined) continue;
    const expected = { ...meaning(document.toJS()), [list]: items.toSpliced(index, 1) };
    const byText = removal(text, document, list, index, mark);
    return byText !== undefined && holds(byText, expected) ? byText : rewritten(document, list, index);
  }
  return undefined;
}

const ownKeys = new Set(["apiVersion", "kind", "preferences", "current-context", ...listNames]);

/** A document that was made for entries of ours goes with the last of them. */
function withoutDocument(text: string, document: Document, chosen: (mark: Mark) => boolean): string | undefined {
  const all = listNames.flatMap((list) => itemsOf(document, list));
  const map = document.contents;
  if (!isMap(map) || map.range == null || all.length === 0) return undefined;
  const isForeign = map.items.some(({ key }) => !ownKeys.has(String((key as Scalar).value)));
  if (isForeign || !all.every((item) => markOf(item)?.document === true && isChosen(item, chosen))) return undefined;
  const [start, end] = map.range;
  return applied(text, [{ start, end: end + newlineAt(text, end), text: "" }]);
}

const isChosen = (item: unknown, chosen: (mark: Mark) => boolean): boolean => {
  const mark = markOf(item);
  return mark !== undefined && chosen(mark);
};

function removal(text: string, document: Document, list: ListName, index: number, mark: Mark): string | undefined {
  const map = document.contents as YAMLMap;
  const isLast = itemsOf(document, list).length === 1;
  const edit =
    isLast && mark.list !== undefined ? restoredList(text, map, list, mark.list) : cutItem(text, map, list, index);
  return edit === undefined ? undefined : applied(text, [edit, ...currentContext(document, list, index, mark)]);
}

const newlineAt = (text: string, at: number): number => /^\r?\n/.exec(text.slice(at, at + 2))?.[0].length ?? 0;

/** Somebody switched to the context that goes: back to the one before, if it is still there. */
function currentContext(document: Document, list: ListName, index: number, mark: Mark): readonly Edit[] {
  const node = document.get("current-context", true) as Scalar | undefined;
  const names = itemsOf(document, "contexts").map(({ name }) => name);
  if (list !== "contexts" || node?.range == null || node.value !== names[index]) return [];
  const left = names.toSpliced(index, 1);
  const before = left.find((name) => name === mark.current) ?? (mark.document === true ? left[0] : undefined) ?? "";
  const [start, end] = node.range;
  return [{ start, end, text: /^[a-z][\w.-]*$/i.test(String(before)) ? String(before) : JSON.stringify(before) }];
}

/** Another program rewrote the file in a form that cannot be edited as text: the result is correct, but in our formatting. */
function rewritten(document: Document, list: ListName, index: number): string {
  document.deleteIn([list, index]);
  if (itemsOf(document, list).length === 0) document.setIn([list], []);
  return document.toString();
}

interface Named extends JsonObject {
  readonly name?: string;
}

const itemsOf = (document: Document, list: ListName): readonly Named[] => {
  const items: unknown = (document.toJS() as JsonObject | null)?.[list];
  return Array.isArray(items) ? items : [];
};

function markOf(item: unknown): Mark | undefined {
  const value = Object.values(lists)
    .map((key) => (item as JsonObject | undefined)?.[key] as JsonObject | undefined)
    .find((found) => found !== undefined);
  const extensions: unknown = value?.extensions;
  if (!Array.isArray(extensions)) return undefined;
  const found = extensions.find((extension) => extension?.name === extensionName)?.extension;
  return isMark(found) ? found : undefined;
}

const isMark = (value: unknown): value is Mark => isOwner(value) && typeof (value as Partial<Mark>).run === "string";

function freeName(document: Document): string {
  const taken = new Set(listNames.flatMap((list) => itemsOf(document, list).map(({ name }) => name)));
  for (let count = 1; ; count++) {
    const name = count === 1 ? baseName : `${baseName}-${count}`;
    if (!taken.has(name)) return name;
  }
}

/** Lists that are empty, null or not there say the same. */
function meaning(value: unknown): JsonObject {
  const { "current-context": _, ...rest } = (value ?? {}) as JsonObject;
  return { ...rest, ...Object.fromEntries(listNames.map((list) => [list, rest[list] ?? []])) };
}

function holds(text: string, expected: JsonObject): boolean {
  const found = parseDocument(text);
  return found.errors.length === 0 && isDeepStrictEqual(meaning(found.toJS()), expected);
}

/** Only the position of an error is reported: the line may contain a token. */
function read(text: string): Document {
  const lines = new LineCounter();
  const document = parseDocument(text, { keepSourceTokens: true, lineCounter: lines, prettyErrors: false });
  const [mistake] = document.errors;
  if (mistake !== undefined) throw refused(`line ${lines.linePos(mistake.pos[0]).line} is not valid YAML`);
  const { contents } = document;
  if (contents !== null && !isMap(contents) && (contents as Scalar).value !== null)
    throw refused("it is not a kubeconfig");
  if (!isMap(contents)) return document;
  const kind = document.get("kind");
  if (kind !== undefined && kind !== "Config") throw refused(`its kind is ${JSON.stringify(kind)}, not Config`);
  for (const list of listNames) {
    const node = document.get(list, true);
    const isEmpty = node === undefined || (isScalar(node) && node.value === null);
    if (!isEmpty && !isSeq(node)) throw refused(`${list} is not a list`);
  }
  return document as Document;
}

const refused = (why: string): Fault => new Fault("FailedPrecondition", why);
