import type { Clock } from '../../common/clock.js';
import { pause, STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { faultCode, faultLog, reasonOf } from '../../common/log.js';
import { IdleTimer } from '../../outbox/delivery/idle-timer.js';
import type { CallStore } from './call-store.js';
import type { EndpointCaller } from './endpoint-caller.js';

/** The shortest time between the beginnings of two commits, in milliseconds. Calls that end meanwhile share a commit. */
const GATHER_MS = 10;

/** Stores the progress of calls: one small transaction at a time, for all endpoints of this process. */
export class ProgressWriter {
  private readonly changed = new Set<EndpointCaller>();
  /** Called after the next commit. */
  private readonly waiting: (() => void)[] = [];
  /** The pause before a commit. */
  private readonly gathering: IdleTimer;
  private isWriting = false;
  private lastAt = Number.NEGATIVE_INFINITY;

  /**
   * @param onLost called with an endpoint whose lease another process has taken
   * @param signal ends the repetition of commits that fail
   */
  constructor(
    private readonly owner: string,
    private readonly store: CallStore,
    private readonly clock: Clock,
    private readonly onLost: (caller: EndpointCaller) => void,
    private readonly signal: AbortSignal,
  ) {
    this.gathering = new IdleTimer(clock);
  }

  /** Plans to store the progress of an endpoint: soon, or at once if its calls wait for that. */
  add(caller: EndpointCaller, isAwaited = false): void {
    this.changed.add(caller);
    if (isAwaited) this.gathering.notify();
    if (!this.isWriting) void this.write();
  }

  /** Resolves when the progress of an endpoint up to now is stored, or when the writer has given up on it. */
  flush(caller: EndpointCaller): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.add(caller, true);
    });
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    // Calls that end in the same turn of the event loop share a commit.
    await new Promise(setImmediate);
    while (this.changed.size > 0) {
      const rest = this.lastAt + GATHER_MS - this.clock.elapsed();
      if (rest > 0) await this.gathering.untilNotified(rest);
      this.gathering.clear();
      this.lastAt = this.clock.elapsed();
      const callers = [...this.changed];
      this.changed.clear();
      const waiting = this.waiting.splice(0);
      await this.commit(callers);
      for (const stored of waiting) stored();
    }
    this.isWriting = false;
  }

  private async commit(callers: readonly EndpointCaller[]): Promise<void> {
    const parts = callers.flatMap((caller) => {
      const part = caller.progress();
      return part ? [{ ...part, caller }] : [];
    });
    if (parts.length === 0) return;
    for (;;) {
      try {
        const ours = await this.store.commit(
          this.owner,
          parts.map(({ progress }) => progress),
        );
        for (const { caller, stored, progress } of parts) {
          if (ours.has(progress.lease.endpointId)) stored();
          else this.onLost(caller);
        }
        return;
      } catch (error) {
        const sentence = `Calls of endpoints could not be stored: ${reasonOf(error)}`;
        faultLog('Webhooks', this.clock).warn(sentence, { code: faultCode(error) });
        if (this.signal.aborted) return;
        await pause(this.clock, STORAGE_RETRY_MS, this.signal);
      }
    }
  }
}
