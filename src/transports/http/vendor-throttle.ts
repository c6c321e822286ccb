import type { Clock } from '../../common/clock.js';

/** The first pause after a refusal; it doubles with each further one. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** The maximum pause by a vendor's `Retry-After`. */
const MAX_REQUESTED_MS = 300_000;

/** Requests that wait together. The caller limits their waiting time by {@link VendorThrottle.reject}. */
export interface WaitGroup {
  readonly signal: AbortSignal;
}

/** The round of an admitted request, or why it was rejected. */
export type AcquireResult = { readonly round: number } | Rejection;

/** Why a request was not admitted. */
export interface Rejection {
  readonly rejected: string;
  /** True: the route was pausing after refusals. False: the request only waited for others. */
  readonly paused: boolean;
}

const STOPPING: Rejection = { rejected: 'stopping', paused: false };

interface Waiter {
  readonly group: WaitGroup;
  readonly resolve: (result: AcquireResult) => void;
}

/**
 * Limits the concurrent requests of a route, first in, first out, and admits none while the route pauses. After a pause
 * one request is admitted first. The others follow when the vendor has accepted or permanently refused it, so that a
 * throttled route costs one attempt per pause instead of one per message.
 */
export class VendorThrottle {
  private readonly waiting = new Set<Waiter>();
  private running = 0;
  private round = 0;
  private pausedUntil = 0;
  private refusals = 0;
  private reason = 'busy';
  private cancelWake: () => void = () => undefined;

  /**
   * @param width the maximum number of concurrent requests
   * @param random in [0, 1), so that several processes do not resume at the same time
   */
  constructor(
    private readonly width: number,
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  /** Resolves when a request is admitted or rejected. Call {@link release} after an admitted request. */
  acquire(group: WaitGroup): Promise<AcquireResult> {
    if (group.signal.aborted) return Promise.resolve(STOPPING);
    return new Promise((resolve) => {
      this.waiting.add({ group, resolve });
      this.admit();
    });
  }

  release(): void {
    this.running--;
    this.admit();
  }

  /** Records that the vendor processed a request of this round; the full width is available again. */
  recordSuccess(round: number): void {
    if (round !== this.round) return;
    this.refusals = 0;
    this.reason = 'busy';
  }

  /**
   * Pauses the route after a refusal.
   * @param round the round of the refused request; all refusals of one round count once
   * @param requestedMs the pause that the vendor requests. A shorter one than ours is not used, because a vendor that
   *   always returns 0 would get all waiting requests at once
   */
  pause(round: number, reason: string, requestedMs = 0): void {
    const isFirst = round === this.round;
    if (isFirst) {
      this.round++;
      this.refusals++;
      this.reason = reason;
    }
    const ownMs = isFirst ? Math.min(FIRST_PAUSE_MS * 2 ** (this.refusals - 1), MAX_PAUSE_MS) : 0;
    const ms = Math.min(Math.max(requestedMs, ownMs), MAX_REQUESTED_MS) * (1 + this.random() / 10);
    this.pausedUntil = Math.max(this.pausedUntil, this.clock.elapsed() + ms);
  }

  /** Rejects the waiting requests of a group, after their waiting time or an abort. */
  reject(group: WaitGroup): void {
    for (const waiter of this.waiting) {
      if (waiter.group !== group) continue;
      this.waiting.delete(waiter);
      waiter.resolve(group.signal.aborted ? STOPPING : { rejected: this.reason, paused: this.refusals > 0 });
    }
  }

  private admit(): void {
    const pauseMs = this.pausedUntil - this.clock.elapsed();
    this.cancelWake();
    if (pauseMs > 0) {
      this.cancelWake = this.clock.after(pauseMs, () => this.admit());
      return;
    }
    const width = this.refusals > 0 ? 1 : this.width;
    for (const waiter of this.waiting) {
      if (this.running >= width) return;
      this.waiting.delete(waiter);
      this.running++;
      waiter.resolve({ round: this.round });
    }
  }
}
