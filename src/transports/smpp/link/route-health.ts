import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../common/clock.js';
import { atMost } from '../../../common/concurrency/at-most.js';
import { MINUTE_MS } from '../../../common/time.js';
import type { OutgoingSms } from '../../../sms/sms-transport.js';

/** The first rest of a route, and the longest, in milliseconds. The rest doubles while the carrier accepts nothing in between. */
const FIRST_REST_MS = 30_000;
const MAX_REST_MS = 10 * MINUTE_MS;
/** For how long the last error is shown as the reason why the route has no link, in milliseconds. */
const KEPT_MS = 1_200_000;
/** If a message is refused this often while other messages are accepted in between, the message itself is the reason. */
const MAX_TIMES = 3;
/** The maximum number of messages whose refusals are remembered. */
const MAX_SUSPECTS = 1000;

/** The shared knowledge of a route's links about the carrier's refusals. */
export class RouteHealth {
  /** How often the route was interrupted since the start, by the class of the carrier's status. */
  readonly interruptions = { bind: 0, route: 0 };
  /** The number of parts that the carrier has accepted since the start. */
  private accepted = 0;
  /** For each message, how often it was refused while others were accepted in between. */
  private readonly suspects = new LRUCache<string, { readonly accepted: number; readonly times: number }>(
    atMost(MAX_SUSPECTS),
  );
  private readonly listeners: (() => void)[] = [];
  private last: { readonly error: string; readonly at: number } | undefined;
  private until = Number.NEGATIVE_INFINITY;
  private doublings = 0;

  /** @param random returns a number in [0, 1), which spreads the rests of several processes */
  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  /**
   * The error for which links of the route rest or bind again, such as `smpp: 0x04`. Undefined after a part was accepted, and if
   * the last such error is long ago.
   */
  get error(): string | undefined {
    const { last } = this;
    return last && this.clock.elapsed() - last.at < KEPT_MS ? last.error : undefined;
  }

  /** Whether no link of the route may submit now. */
  get resting(): boolean {
    return this.clock.elapsed() < this.until;
  }

  /** @param listener called when a rest begins and when it ends */
  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Records that the carrier accepted a part. */
  taken(): void {
    this.accepted++;
    this.doublings = 0;
    this.last = undefined;
  }

  /**
   * Records that a message was refused because of the bind or the route. Returns true if the carrier has accepted other messages
   * between several of these refusals, so that the message itself must be the reason.
   */
  isToBlame({ smsId, position }: Pick<OutgoingSms, 'smsId' | 'position'>): boolean {
    const { accepted } = this;
    const key = `${position} ${smsId}`;
    const before = this.suspects.get(key) ?? { accepted, times: 0 };
    const times = before.times + (accepted > before.accepted ? 1 : 0);
    this.suspects.set(key, { accepted, times });
    return times >= MAX_TIMES;
  }

  /** Records that the carrier ended or refused a bind of the route with a status. */
  interrupted(error: string): void {
    this.interruptions.bind++;
    this.last = { error, at: this.clock.elapsed() };
  }

  /**
   * Begins a rest of 15 seconds to 10 minutes. Returns false for a part that was already submitted when a rest began.
   *
   * @param sentAt when the refused part was submitted, by the clock's `elapsed`
   */
  rest(error: string, sentAt: number): boolean {
    if (sentAt < this.until) return false;
    const longest = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** this.doublings);
    const restMs = Math.ceil((longest / 2) * (1 + this.random()));
    this.doublings = Math.min(this.doublings + 1, 10);
    this.interruptions.route++;
    const now = this.clock.elapsed();
    this.last = { error, at: now };
    this.until = now + restMs;
    this.clock.after(restMs, () => this.notify());
    this.notify();
    return true;
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
