/** The object cannot be read as its kind: what an API server answers with 400 Bad Request, in its words. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}
