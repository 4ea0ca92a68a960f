/** One watch request: bytes to frames to events. What to do when it ends is the caller's business. */
import type { KindName } from "../api/kinds.ts";
import { Fault } from "../base/fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { TakeEvent, WatchEvent, WatchQuery } from "./api.ts";
import type { TakePiece } from "./call.ts";
import { createFrameDecoder, type DecodeFrame, type FrameReaderOptions } from "./frames.ts";
import { textWithoutManagedFields } from "./managed-fields.ts";
import { type Adoption, adopt, parseResponse } from "./objects.ts";
import { faultOfStatus } from "./status.ts";

type Parameters = Readonly<Record<string, string | number | undefined>>;

export async function watchPath<K extends KindName>(
  adoption: Adoption<K>,
  query: WatchQuery,
  take: TakeEvent<K>,
  read: (parameters: Parameters, take: TakePiece) => Promise<void>,
): Promise<void> {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = query;
  const asked = {
    watch: 1,
    allowWatchBookmarks: "true",
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
  };
  const decoder = createFrameDecoder(adoption.managedFields === "strip" ? stripping : {});
  await read(asked, (piece) => {
    for (const frame of decoder.push(piece)) {
      const event = eventIn(adoption, frame);
      if (event !== undefined) take(event);
    }
  });
  decoder.end();
}

/** Types that later versions may add are passed over, as every client of Kubernetes must. */
function eventIn<K extends KindName>(adoption: Adoption<K>, frame: string): WatchEvent<K> | undefined {
  const { type, object } = envelopeIn(adoption, frame);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      return { kind: "put", object: adopt(adoption, object) };
    case "DELETED":
      return { kind: "gone", object: adopt(adoption, object) };
    case "BOOKMARK":
      return { kind: "bookmark", resourceVersion: adopt(adoption, object).metadata.resourceVersion };
    case "ERROR":
      throw faultOfError(object);
    default:
      return undefined;
  }
}

function envelopeIn(adoption: Adoption<KindName>, frame: string): { type: JsonValue; object: JsonObject } {
  const value = parseResponse(frame, `the watch of ${adoption.kind} objects`, adoption.read);
  if (!isObject(value) || !isObject(value.object))
    throw new Fault("UnknownOutcome", `the watch of ${adoption.kind} objects sent something that is no event`);
  return { type: value.type ?? null, object: value.object };
}

const member = '"object":';
/** Kubernetes prints the type first, and types are short. A frame of another form is parsed without stripping. */
const leadMax = 40;
const withoutManagedFields: DecodeFrame = (bytes, start, end) => {
  const at = bytes.subarray(start, Math.min(end, start + leadMax)).indexOf(member);
  return textWithoutManagedFields(bytes, start, end, at === -1 ? end : start + at + member.length);
};

const stripping: FrameReaderOptions = {
  decode: withoutManagedFields,
  isFinalText: (text) => !text.includes('"managedFields":'),
};

function faultOfError(status: JsonObject): Fault {
  const code = typeof status.code === "number" ? status.code : 500;
  return faultOfStatus(status, code);
}
