/** Amounts in the estimate of what a rule may cost: sixty-four bits, and what does not fit is the largest there is. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

const largest = 2 ** 64;
const capped = (value: number): number => (value > largest ? largest : value);

export const unknownSize: Size = { min: 0, max: largest };
export const fixedSize = (size: number): Size => ({ min: size, max: size });
export const addSizes = (a: Size, b: Size): Size => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) });
export const multiplySizes = (a: Size, b: Size): Size => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) });
export const uniteSizes = (a: Size, b: Size): Size => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

/** Costs are only kept as the worst case. */
export const addCosts = (...costs: readonly number[]): number => costs.reduce((sum, cost) => capped(sum + cost), 0);
export const multiplyCosts = (a: number, b: number): number => capped(a * b);
/** The worst case of going through something, at so much per unit; rounded up. */
export const byFactor = (amount: number, factor: number): number => capped(Math.ceil(capped(amount * factor)));

/** Of going through a text once, and of a pattern's length: Kubernetes' figures. */
export const traversal = 0.1;
export const perPatternCharacter = 0.25;
