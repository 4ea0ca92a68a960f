/** The shape of a kind says what it cannot read; an API server answers that with 400. */
import { DecodeError } from "../schema/decode-error.ts";
import type { ApiObject, Shape } from "./contracts.ts";
import { badRequest } from "./status.ts";

/** Fits the object to the shape, in place; returns the fields nobody knows. */
export function pruned(shape: Shape, object: ApiObject): readonly string[] {
  try {
    return shape.prune(object);
  } catch (reason) {
    throw reason instanceof DecodeError ? badRequest(reason.message) : reason;
  }
}
