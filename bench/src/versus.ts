import type { Load } from './target.js';

/** What one server does against another. */
export interface Versus {
  /** Requests a second against the other's, the median of the turns. */
  readonly ratio: number;
  readonly perSecond: number;
  /** Processor time of the server per request, in microseconds, the median of the turns. */
  readonly cpu: number;
  /** Processor time per request against the other's, the median of the turns. Other load on the machine changes it little. */
  readonly cpuRatio: number;
  /** The worst of the turns, in milliseconds. */
  readonly p99: number;
  readonly refused: number;
}

const WARM_UP_S = 2;

/** Puts a server under load for so many seconds. */
export type Press = (seconds: number) => Promise<Load>;

/**
 * Lets two servers, once they are warm, take turns of a second: what else the machine does then hits both, and what hits one
 * alone is not the median.
 */
export async function versus(turns: number, mine: Press, theirs: Press): Promise<Versus> {
  for (const press of [theirs, mine]) await press(WARM_UP_S);
  const ratios: number[] = [];
  const cpuRatios: number[] = [];
  const loads: Load[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const other = await theirs(1);
    const own = await mine(1);
    loads.push(own);
    ratios.push(own.perSecond / other.perSecond);
    cpuRatios.push(own.cpu / other.cpu);
  }
  return {
    ratio: median(ratios),
    perSecond: median(loads.map(({ perSecond }) => perSecond)),
    cpu: median(loads.map(({ cpu }) => cpu)),
    cpuRatio: median(cpuRatios),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
    refused: loads.reduce((sum, { refused }) => sum + refused, 0),
  };
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
