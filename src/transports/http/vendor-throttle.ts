import type { Clock } from '../../common/clock.js';
import { MINUTE_MS } from '../../common/time.js';
import { CAPACITY_MS, RecentCount } from '../../outbox/delivery/capacity.js';
import type { Priority } from '../../outbox/queue/priority.api.js';
import { PriorityQueue } from '../../outbox/queue/priority-queue.js';

/** The first pause after a refusal. It doubles with each further refusal. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = MINUTE_MS;
/** The maximum pause by a vendor's `Retry-After`. */
const MAX_REQUESTED_MS = 5 * MINUTE_MS;

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
  readonly priority: Priority;
  readonly resolve: (result: AcquireResult) => void;
}

/**
 * Limits the concurrent requests of a route, by priority, and admits none while the route pauses. If more than one request may
 * run, one request is reserved for one-time passcodes, so that slow answers to other requests do not delay them. After a pause
 * only one request is admitted at first. The others follow when the vendor has accepted or permanently refused this request. So a
 * throttled route costs one attempt per pause instead of one per message.
 */
export class VendorThrottle {
  private readonly waiting = new PriorityQueue<Waiter>(({ priority }) => priority);
  private readonly ended = new RecentCount();
  private running = 0;
  /** How many of these requests are for one-time passcodes. */
  private codes = 0;
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

  /**
   * How many more requests can be admitted within the next 250 ms, besides those that wait. We assume that up to twice as many
   * requests end as within the last 250 ms, so that the estimate can grow.
   */
  get capacity(): number {
    const now = this.clock.elapsed();
    const isPaused = this.pausedUntil - now >= CAPACITY_MS;
    if (isPaused) return 0 - this.waiting.size;
    if (this.refusals > 0) return 1 - this.running - this.waiting.size;
    const free = Math.max(0, this.forOthers - this.running + this.codes);
    return free + 2 * this.ended.at(now) - this.waiting.size;
  }

  /** Whether no request is admitted now, because the vendor has refused one. */
  get isPaused(): boolean {
    return this.pausedUntil > this.clock.elapsed();
  }

  /** Resolves when a request is admitted or rejected. Call {@link release} after an admitted request. */
  acquire(group: WaitGroup, priority: Priority = 'normal'): Promise<AcquireResult> {
    if (group.signal.aborted) return Promise.resolve(STOPPING);
    return new Promise((resolve) => {
      this.waiting.push({ group, priority, resolve });
      this.admit();
    });
  }

  /** Ends an admitted request. @param priority the priority that was passed to `acquire` */
  release(priority: Priority = 'normal'): void {
    this.ended.add(this.clock.elapsed());
    this.running--;
    if (priority === 'code') this.codes--;
    this.admit();
  }

  /** Records that the vendor processed a request of this round. The full width is then available again. */
  recordSuccess(round: number): void {
    if (round !== this.round) return;
    this.refusals = 0;
    this.reason = 'busy';
  }

  /**
   * Pauses the route after a refusal.
   * @param round the round of the refused request. All refusals of one round count once
   * @param requestedMs the pause that the vendor requests. It is ignored if it is shorter than ours, because a vendor that always
   * returns 0 would get all waiting requests at once
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
    for (const { resolve } of this.waiting.remove((waiter) => waiter.group === group)) {
      resolve(group.signal.aborted ? STOPPING : { rejected: this.reason, paused: this.refusals > 0 });
    }
  }

  /** How many requests that are not for one-time passcodes may run. */
  private get forOthers(): number {
    return Math.max(1, this.width - 1);
  }

  private admit(): void {
    const pauseMs = this.pausedUntil - this.clock.elapsed();
    this.cancelWake();
    if (pauseMs > 0) {
      this.cancelWake = this.clock.after(pauseMs, () => this.admit());
      return;
    }
    const width = this.refusals > 0 ? 1 : this.width;
    for (let next = this.waiting.first; next && this.running < width; next = this.waiting.first) {
      const isCode = next.priority === 'code';
      if (!isCode && this.running - this.codes >= this.forOthers) return;
      this.waiting.shift();
      this.running++;
      if (isCode) this.codes++;
      next.resolve({ round: this.round });
    }
  }
}
