import type { Load } from './target.js';

/** The result of a comparison of two servers. */
export interface Versus {
  /** The requests a second of one server divided by those of the other, as the median of the turns. */
  readonly ratio: number;
  readonly perSecond: number;
  /** The requests a second of the other server, as the median of the turns. */
  readonly othersPerSecond: number;
  /** The processor time of the server per request, in microseconds, as the median of the turns. */
  readonly cpu: number;
  /**
   * The processor time per request divided by the other's, as the median of the turns. Other load on the machine
   * changes it little.
   */
  readonly cpuRatio: number;
  /** The p99 of the worst turn, in milliseconds. */
  readonly p99: number;
  readonly refused: number;
}

const WARM_UP_S = 2;

/** Loads a server for a number of seconds. */
export type Press = (seconds: number) => Promise<Load>;

/**
 * Lets two servers take turns of a second, after a warm-up. So other work of the machine affects both, and a
 * disturbance of only one turn does not change the median.
 */
export async function versus(turns: number, mine: Press, theirs: Press): Promise<Versus> {
  for (const press of [theirs, mine]) await press(WARM_UP_S);
  const ratios: number[] = [];
  const cpuRatios: number[] = [];
  const loads: Load[] = [];
  const others: Load[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const other = await theirs(1);
    const own = await mine(1);
    loads.push(own);
    others.push(other);
    ratios.push(own.perSecond / other.perSecond);
    cpuRatios.push(own.cpu / other.cpu);
  }
  return {
    ratio: median(ratios),
    perSecond: median(loads.map(({ perSecond }) => perSecond)),
    othersPerSecond: median(others.map(({ perSecond }) => perSecond)),
    cpu: median(loads.map(({ cpu }) => cpu)),
    cpuRatio: median(cpuRatios),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
    refused: loads.reduce((sum, { refused }) => sum + refused, 0),
  };
}

/** Returns the median of numbers. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
