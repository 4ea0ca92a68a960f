/**
 * Kubernetes quantities ("1.5Gi", "1500m", "12e6"), exact. A value is a whole number of nano-units in a BigInt, plus the
 * family of suffixes it was written in, because Kubernetes prints a quantity in the family it came in.
 */
import { Fault } from "./fault.ts";

type QuantityFormat = "decimal" | "binary" | "exponent";

export interface Quantity {
  /** The value times 10^9: Kubernetes keeps nothing finer. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const nanosPerUnit = 10n ** 9n;

/** Powers of ten of the decimal suffixes, and of 1024 of the binary ones. */
const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };
const suffixOfDecimal = new Map(Object.entries(decimalSuffixes).map(([suffix, power]) => [power, suffix]));
const suffixOfBinary = new Map(Object.entries(binarySuffixes).map(([suffix, power]) => [power, suffix]));

/** Binary quantities stop at the largest int64; Kubernetes caps larger values. */
const binaryNanosMax = (2n ** 63n - 1n) * nanosPerUnit;
/** Beyond this a number is a mistake or an attack; nothing Kubernetes stores comes near it. */
const exponentMax = 400;

const shape = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d+)|([A-Za-z]*))$/;

export function parseQuantity(input: string | number | bigint): Quantity {
  const text = String(input).trim();
  const match = shape.exec(text);
  const [, sign = "", whole = "", fraction = "", exponentPart, suffix = ""] = match ?? [];
  if (match === null || whole + fraction === "") throw badQuantity(text);
  const digits = BigInt(whole + fraction);
  const scaled = scaledBy(text, exponentPart, suffix);
  const magnitude = clamped(nanosOf(digits, fraction.length, scaled), scaled.format);
  return { nanos: sign === "-" ? -magnitude : magnitude, format: scaled.format };
}

const badQuantity = (text: string): Fault =>
  new Fault(
    "InvalidArgument",
    `"${text.slice(0, 80)}" is not a quantity: write a number with an optional suffix, such as 1500m, 2Gi or 12e6`,
  );

interface Scale {
  readonly format: QuantityFormat;
  readonly powerOfTen: number;
  readonly powerOf1024: number;
}

function scaledBy(text: string, exponentPart: string | undefined, suffix: string): Scale {
  if (exponentPart !== undefined) {
    const powerOfTen = Number(exponentPart.slice(1));
    if (Math.abs(powerOfTen) > exponentMax) throw badQuantity(text);
    return { format: "exponent", powerOfTen, powerOf1024: 0 };
  }
  const binary = Object.hasOwn(binarySuffixes, suffix) ? binarySuffixes[suffix] : undefined;
  if (binary !== undefined) return { format: "binary", powerOfTen: 0, powerOf1024: binary };
  const decimal = Object.hasOwn(decimalSuffixes, suffix) ? decimalSuffixes[suffix] : undefined;
  if (decimal === undefined) throw badQuantity(text);
  return { format: "decimal", powerOfTen: decimal, powerOf1024: 0 };
}

/** What is finer than a nano-unit is rounded up, away from zero: a request is never silently made smaller. */
function nanosOf(digits: bigint, fractionLength: number, { powerOfTen, powerOf1024 }: Scale): bigint {
  const exact = digits * 1024n ** BigInt(powerOf1024);
  const power = powerOfTen - fractionLength + 9;
  return power >= 0 ? exact * 10n ** BigInt(power) : divideUp(exact, 10n ** BigInt(-power));
}

const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

const clamped = (nanos: bigint, format: QuantityFormat): bigint =>
  format === "binary" && nanos > binaryNanosMax ? binaryNanosMax : nanos;

/** The one spelling Kubernetes itself would print for this value. */
export function printQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return "0";
  const sign = nanos < 0n ? "-" : "";
  const magnitude = nanos < 0n ? -nanos : nanos;
  // Small and fractional values read better in decimal: 512 and 1500m, not 0.5Ki or a rounded figure.
  const isBinary = format === "binary" && magnitude >= 1024n * nanosPerUnit && magnitude % nanosPerUnit === 0n;
  return sign + (isBinary ? printBinary(magnitude / nanosPerUnit) : printDecimal(magnitude, format));
}

function printBinary(units: bigint): string {
  let power = 0;
  let rest = units;
  while (power < 6 && rest % 1024n === 0n) {
    rest /= 1024n;
    power += 1;
  }
  return `${rest}${suffixOfBinary.get(power) ?? ""}`;
}

function printDecimal(nanos: bigint, format: QuantityFormat): string {
  let power = -9;
  let rest = nanos;
  while (rest % 1000n === 0n && (format === "exponent" || power < 18)) {
    rest /= 1000n;
    power += 3;
  }
  if (format === "exponent") return power === 0 ? String(rest) : `${rest}e${power}`;
  return `${rest}${suffixOfDecimal.get(power) ?? ""}`;
}

export const compareQuantities = (a: Quantity, b: Quantity): number =>
  a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;

/** Whole units, rounded up: the bytes a volume must have to satisfy the quantity. */
export const wholeUnits = ({ nanos }: Quantity): bigint =>
  nanos >= 0n ? divideUp(nanos, nanosPerUnit) : nanos / nanosPerUnit;

/** A number of bytes, to be printed with binary suffixes. */
export const binaryQuantity = (bytes: bigint | number): Quantity => ({
  nanos: BigInt(bytes) * nanosPerUnit,
  format: "binary",
});
