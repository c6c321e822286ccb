import type { Load } from './target.js';

/** What one server does against another. */
export interface Versus {
  /** Requests a second against the other's, the median of the turns. */
  readonly ratio: number;
  readonly perSecond: number;
  /** The worst of the turns, in milliseconds. */
  readonly p99: number;
  readonly refused: number;
}

/**
 * Lets two servers take turns, many and short ones: what else the machine does then hits both, and what hits one alone is
 * not the median.
 */
export async function versus(turns: number, mine: () => Promise<Load>, theirs: () => Promise<Load>): Promise<Versus> {
  const ratios: number[] = [];
  const loads: Load[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const other = await theirs();
    const own = await mine();
    loads.push(own);
    ratios.push(own.perSecond / other.perSecond);
  }
  return {
    ratio: median(ratios),
    perSecond: median(loads.map(({ perSecond }) => perSecond)),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
    refused: loads.reduce((sum, { refused }) => sum + refused, 0),
  };
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
