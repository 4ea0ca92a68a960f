/** Nominal types over primitives: a storage handle passed as a Kubernetes name is data loss, so it is a type error. */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type Millis = number;

/** "namespace/name", or "name" for a cluster-scoped object. */
export type Key = Brand<string, "Key">;

export const keyIn = (namespace: string | undefined, name: string): Key =>
  (namespace === undefined || namespace === "" ? name : `${namespace}/${name}`) as Key;

export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};
