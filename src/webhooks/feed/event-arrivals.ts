import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Notifier } from '../../common/notifier.js';
import { EventLog } from '../../events/event-log.js';

/** Wakes readers that wait for events of an account: at once for events of this process, soon for events of other processes. */
@Injectable()
export class EventArrivals implements OnModuleInit, OnApplicationShutdown {
  private readonly byAccount = new Map<string, Set<EventArrival>>();
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly log: EventLog,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.stops = [
      this.log.listen(({ accounts }) => {
        for (const accountId of accounts) this.ring(accountId);
      }),
      this.notifier.listen('event', (accountId) => this.ring(accountId)),
    ];
  }

  onApplicationShutdown(): void {
    for (const stop of this.stops) stop();
  }

  /** Starts to note the arrivals of an account, until the result is closed. */
  of(accountId: string): EventArrival {
    const waiting = this.byAccount.get(accountId) ?? new Set();
    this.byAccount.set(accountId, waiting);
    const arrival = new EventArrival(this.clock, () => {
      waiting.delete(arrival);
      if (waiting.size === 0 && this.byAccount.get(accountId) === waiting) this.byAccount.delete(accountId);
    });
    waiting.add(arrival);
    return arrival;
  }

  private ring(accountId: string): void {
    for (const arrival of this.byAccount.get(accountId) ?? []) arrival.ring();
  }
}

/**
 * The arrivals that one reader has noticed. Make it before the reader looks for events, so that it misses no arrival in between.
 */
export class EventArrival {
  private rung = false;
  private wake: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    readonly close: () => void,
  ) {}

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** Resolves when events have arrived since the last call, after `ms` milliseconds, or when the signal is aborted. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.rung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const cancel = this.clock.after(ms, () => this.wake?.());
        this.wake = () => {
          this.wake = undefined;
          cancel();
          signal.removeEventListener('abort', aborted);
          resolve();
        };
        const aborted = this.wake;
        signal.addEventListener('abort', aborted);
      });
    }
    this.rung = false;
  }
}
