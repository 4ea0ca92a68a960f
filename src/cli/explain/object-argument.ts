/** "vs/monday", "pvc data", "vs": the object or the kind that a user names, with kubectl's names of kinds. */
import { type KindName, kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import { Fault } from "../../base/fault.ts";
import { nearest } from "../../base/nearest.ts";

const namesOf = (kind: KindName): readonly string[] => {
  const { plural, singular, group, shortNames = [] } = kindRows[kind];
  const own = [plural, singular, ...shortNames, kind.toLowerCase()];
  return [...own, `${plural}.${group}`, `${singular}.${group}`];
};

/** Without a name: all objects of the kind. */
export interface Asked {
  readonly kind: KindName;
  readonly name: string | undefined;
}

export function objectOrKind(words: readonly string[], kinds: readonly KindName[]): Asked {
  const [kindWord = "", name] = words.length === 1 ? (words[0] ?? "").split("/", 2) : words;
  const kind = kinds.find((each) => namesOf(each).includes(kindWord.toLowerCase()));
  if (kind === undefined) {
    const known = kinds.map((each) => kindRows[each].singular);
    const meant = nearest(kindWord.toLowerCase(), kinds.flatMap(namesOf));
    throw new Fault(
      "InvalidArgument",
      `${JSON.stringify(kindWord)} is no kind that can be explained${meant === undefined ? "." : `; did you mean ${meant}?`} Kinds: ${known.join(", ")}`,
    );
  }
  if (name === "") throw new Fault("InvalidArgument", `name the object as well: ${kindWord}/NAME`);
  return { kind, name };
}

export function objectArgument(words: readonly string[], namespace: string, kinds: readonly KindName[]): Ref {
  const { kind, name } = objectOrKind(words, kinds);
  if (name === undefined) throw new Fault("InvalidArgument", `name the object as well: ${words[0]}/NAME`);
  return kindRows[kind].scope === "cluster" ? { kind, name } : { kind, namespace, name };
}
