/** The protobuf wire format, read only: a message is a run of numbered fields. */

export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

export type WireField =
  | { readonly number: number; readonly kind: "number"; readonly value: bigint }
  | { readonly number: number; readonly kind: "bytes"; readonly bytes: Uint8Array };

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (length: number): number => {
    const start = at;
    if (length < 0 || start + length > bytes.length) throw new MalformedMessage("it ends in the middle of a field");
    at += length;
    return start;
  };
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[take(1)] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new MalformedMessage("a number is longer than ten bytes");
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const type = Number(tag & 7n);
    if (number === 0) throw new MalformedMessage("field number zero");
    if (type === wireTypes.varint) yield { number, kind: "number", value: varint() };
    else if (type === wireTypes.fixed64) yield { number, kind: "number", value: view.getBigUint64(take(8), true) };
    else if (type === wireTypes.fixed32) yield { number, kind: "number", value: BigInt(view.getUint32(take(4), true)) };
    else if (type === wireTypes.bytes) {
      const length = Number(varint());
      yield { number, kind: "bytes", bytes: bytes.subarray(take(length), at) };
    } else throw new MalformedMessage(`wire type ${type} is not used by Kubernetes`);
  }
}

/** A signed integer: as a number where that is exact, else as a BigInt. */
export function integerOf(field: WireField): number | bigint {
  if (field.kind !== "number") throw new MalformedMessage(`field ${field.number} has an unexpected wire type`);
  const value = BigInt.asIntN(64, field.value);
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new MalformedMessage("a text is not UTF-8");
  }
}
