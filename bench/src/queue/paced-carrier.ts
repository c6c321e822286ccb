import { type OutgoingSms, SmsTransport, type SubmitResult } from 'nestjs-messaging/transports';

/** What a carrier was given. */
export interface HandOvers {
  readonly count: number;
  /** Resolves when an SMS to this number is handed over, with the time by `performance.now()`. */
  of(number: string): Promise<number>;
}

/** How far ahead a transport reports its capacity, in milliseconds. */
const AHEAD_MS = 250;

/**
 * A carrier that takes every SMS at once and delivers it. It notes when an SMS is handed over to it, which is before the result is
 * stored. With a pace it reports a capacity, as a transport with a rate limit does.
 */
export class PacedCarrier extends SmsTransport implements HandOvers {
  override readonly name = 'paced';
  override readonly repeat = 'idempotent';
  count = 0;
  private readonly waiting = new Map<string, (at: number) => void>();
  /** Until when the carrier's time is used, by `performance.now()`. */
  private usedUntil = 0;

  /** @param partsPerSecond undefined: the carrier reports no capacity */
  constructor(private readonly partsPerSecond?: number) {
    super();
  }

  override async start(): Promise<void> {}

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    const now = performance.now();
    for (const { number } of batch) this.waiting.get(number)?.(now);
    this.count += batch.length;
    if (this.partsPerSecond !== undefined) {
      this.usedUntil = Math.max(this.usedUntil, now) + (1000 * batch.length) / this.partsPerSecond;
    }
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  override capacity(): number | undefined {
    if (this.partsPerSecond === undefined) return undefined;
    const leftMs = AHEAD_MS - Math.max(0, this.usedUntil - performance.now());
    return Math.floor((leftMs * this.partsPerSecond) / 1000);
  }

  override async stop(): Promise<void> {}

  of(number: string): Promise<number> {
    return new Promise((resolve) => this.waiting.set(number, resolve));
  }
}
