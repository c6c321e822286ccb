import type { Clock } from '../../common/clock.js';

/** The first rest after a refusal, in milliseconds; doubles with each further one. */
const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 60_000;
/** The longest that a vendor's `Retry-After` is obeyed. */
const LONGEST_ASKED_MS = 300_000;

/** Those who come together. How long they wait is for whoever brought them to say, by {@link VendorThrottle.turnAway}. */
export interface Visit {
  readonly signal: AbortSignal;
}

/** The answer to somebody who wants in. */
export type Entry = { readonly round: number } | TurnedAway;

/** Why somebody did not get in, and whether it was for the route: that it had been failing, and not only that others were first. */
export interface TurnedAway {
  readonly turnedAway: string;
  readonly rests: boolean;
}

const STOPPING: TurnedAway = { turnedAway: 'stopping', rests: false };

interface Waiter {
  readonly visit: Visit;
  readonly answer: (entry: Entry) => void;
}

/**
 * Lets so many at a time onto a route, first come first served, and nobody while it rests. After a rest one goes ahead; the
 * others follow when the vendor took or judged it, so a throttled route costs one attempt a rest and not one a message.
 */
export class VendorThrottle {
  private readonly waiting = new Set<Waiter>();
  private inside = 0;
  private round = 0;
  private restUntil = 0;
  private refusals = 0;
  private reason = 'busy';
  private cancelWake: () => void = () => undefined;

  /**
   * @param width how many at a time
   * @param random in [0, 1), so that several processes do not come back at the same moment
   */
  constructor(
    private readonly width: number,
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  /** Resolves with the round it goes in with, or why it was turned away. Whoever went in has to {@link leave}. */
  enter(visit: Visit): Promise<Entry> {
    if (visit.signal.aborted) return Promise.resolve(STOPPING);
    return new Promise((answer) => {
      this.waiting.add({ visit, answer });
      this.admit();
    });
  }

  leave(): void {
    this.inside--;
    this.admit();
  }

  /** The vendor works, as somebody of this round saw: nobody needs to go ahead any more. */
  prove(round: number): void {
    if (round !== this.round) return;
    this.refusals = 0;
    this.reason = 'busy';
  }

  /**
   * The vendor wants to be left alone.
   * @param round that the refused one went in with: refusals of one round are one refusal
   * @param askedMs what the vendor asked for: less than our own rest is not enough, or a vendor that always says "0" would
   * hear from all who wait at once
   */
  rest(round: number, reason: string, askedMs = 0): void {
    const begins = round === this.round;
    if (begins) {
      this.round++;
      this.refusals++;
      this.reason = reason;
    }
    const ownMs = begins ? Math.min(FIRST_REST_MS * 2 ** (this.refusals - 1), LONGEST_REST_MS) : 0;
    const ms = Math.min(Math.max(askedMs, ownMs), LONGEST_ASKED_MS) * (1 + this.random() / 10);
    this.restUntil = Math.max(this.restUntil, this.clock.elapsed() + ms);
  }

  /** Turns away who of a visit still waits: it has waited long enough or is called back. */
  turnAway(visit: Visit): void {
    for (const waiter of this.waiting) {
      if (waiter.visit !== visit) continue;
      this.waiting.delete(waiter);
      waiter.answer(visit.signal.aborted ? STOPPING : { turnedAway: this.reason, rests: this.refusals > 0 });
    }
  }

  private admit(): void {
    const restMs = this.restUntil - this.clock.elapsed();
    this.cancelWake();
    if (restMs > 0) {
      this.cancelWake = this.clock.after(restMs, () => this.admit());
      return;
    }
    const width = this.refusals > 0 ? 1 : this.width;
    for (const waiter of this.waiting) {
      if (this.inside >= width) return;
      this.waiting.delete(waiter);
      this.inside++;
      waiter.answer({ round: this.round });
    }
  }
}
