import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/clock.js';
import { within } from '../common/within.js';
import type { Link } from './msgapp-transport.js';

/** How long an answer is believed: people join sooner than they leave. */
const THERE_MS = 24 * 3_600_000;
const NOT_THERE_MS = 600_000;

/** How many numbers are remembered. */
const CAPACITY = 20_000;

/** Whether recipients are on the channel at all; numbers that write to people who are not get into trouble. */
export class RecipientCheck {
  private readonly known = new LRUCache<string, { readonly isThere: boolean; readonly until: number }>({
    max: CAPACITY,
  });

  /** @param patienceMs how long an answer is waited for */
  constructor(
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {}

  /** Undefined when it cannot be found out now. */
  async isThere(link: Link, number: string): Promise<boolean | undefined> {
    const known = this.known.get(number);
    if (known && known.until > this.clock.elapsed()) return known.isThere;
    const isThere = await within(this.clock, this.patienceMs, link.exists(number));
    if (isThere === undefined) return undefined;
    this.known.set(number, { isThere, until: this.clock.elapsed() + (isThere ? THERE_MS : NOT_THERE_MS) });
    return isThere;
  }
}
