/** Every resource served now: the built-in rows, and those of the CustomResourceDefinitions that are stored. */
import type { ApiObject, Parts, Resource, Store } from "./contracts.ts";
import { asDefinition, isTrue, resourcesOf } from "./custom.ts";
import { builtInResources, definitionsCollection } from "./rows.ts";

export interface Directory {
  /** The same array as long as nothing changes, so that answers made from it can be kept. */
  all(): readonly Resource[];
  find(group: string, version: string, plural: string): Resource | undefined;
  byKind(group: string, kind: string): Resource | undefined;
  ofCollection(collection: string): Resource | undefined;
}

interface Index {
  readonly all: readonly Resource[];
  readonly byPlural: ReadonlyMap<string, readonly Resource[]>;
  readonly byKind: ReadonlyMap<string, Resource>;
  readonly byCollection: ReadonlyMap<string, Resource>;
}

/** A definition's resources, made once for every state of it; the same definition in many servers shares them. */
const madeFrom = new WeakMap<Parts, WeakMap<object, readonly Resource[]>>();

function customResources(definition: ApiObject, parts: Parts): readonly Resource[] {
  const typed = asDefinition(definition);
  if (!isTrue(typed, "Established")) return [];
  const known = madeFrom.get(parts) ?? new WeakMap<object, readonly Resource[]>();
  madeFrom.set(parts, known);
  const made = known.get(typed.spec) ?? resourcesOf(typed, parts);
  known.set(typed.spec, made);
  return made;
}

function indexOf(all: readonly Resource[]): Index {
  const stored = (resource: Resource): boolean => resource.storedAs.endsWith(resource.version);
  // Of several versions the stored one wins, for it is what background work shall see.
  const storedLast = [...all].sort((a, b) => Number(stored(a)) - Number(stored(b)));
  return {
    all,
    byPlural: Map.groupBy(all, ({ plural }) => plural),
    byKind: new Map(storedLast.map((row) => [`${row.group}/${row.kind}`, row])),
    byCollection: new Map(storedLast.filter((row) => row.conversion === undefined).map((row) => [row.collection, row])),
  };
}

const builtInIndex = new WeakMap<readonly Resource[], Index>();

interface Known {
  readonly custom: readonly Resource[];
  readonly index: Index;
}
/** The last index with custom resources: servers that are made one after the other mostly have the same ones. */
const lastIndex = new WeakMap<readonly Resource[], Known>();

function indexWith(builtIn: readonly Resource[], custom: readonly Resource[]): Index {
  const known = lastIndex.get(builtIn);
  const isSame = known?.custom.length === custom.length && custom.every((row, at) => row === known.custom[at]);
  if (known !== undefined && isSame) return known.index;
  const index = indexOf([...builtIn, ...custom]);
  lastIndex.set(builtIn, { custom, index });
  return index;
}

export function createDirectory(store: Store, parts: Parts): Directory {
  const builtIn = builtInResources(parts);
  const bare = builtInIndex.get(builtIn) ?? indexOf(builtIn);
  builtInIndex.set(builtIn, bare);
  let index: Index | undefined = bare;
  store.onCommit((events) => {
    if (events.some(({ collection }) => collection === definitionsCollection)) index = undefined;
  });

  function current(): Index {
    index ??= indexWith(
      builtIn,
      store.list(definitionsCollection).flatMap(({ object }) => customResources(object, parts)),
    );
    return index;
  }

  return {
    all: () => current().all,
    find: (group, version, plural) =>
      current()
        .byPlural.get(plural)
        ?.findLast((row) => row.group === group && row.version === version),
    byKind: (group, kind) => current().byKind.get(`${group}/${kind}`),
    ofCollection: (collection) => current().byCollection.get(collection),
  };
}
