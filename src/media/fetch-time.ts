import type { Clock } from '../common/clock.js';
import { MediaRefusedError } from './media-fetcher.js';

/**
 * The life of one fetch: it ends when the request does, when a step is too slow, or when it is closed. Whatever it opened
 * hangs on its signal, so nothing is left over.
 */
export class FetchTime {
  private readonly ending = new AbortController();
  private readonly timers = new Set<() => void>();
  private readonly stopped = () => this.end('the request ended');

  /** @param totalMs the longest it may live, whatever the request does */
  constructor(
    private readonly clock: Clock,
    private readonly request: AbortSignal,
    totalMs: number,
  ) {
    if (request.aborted) this.stopped();
    else request.addEventListener('abort', this.stopped, { once: true });
    this.within(totalMs, 'too slow');
  }

  /** Fires at the end, with a {@link MediaRefusedError} for its reason. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** Gives a step `ms` milliseconds, after which the fetch ends; what it answers ends the step. */
  within(ms: number, reason: string): () => void {
    return this.after(ms, () => this.end(reason));
  }

  /** Runs a task after `ms` milliseconds, unless the fetch ends before; the answer cancels it. */
  after(ms: number, task: () => void): () => void {
    if (this.signal.aborted) return () => {};
    const cancel = this.clock.after(ms, task);
    this.timers.add(cancel);
    return () => {
      this.timers.delete(cancel);
      cancel();
    };
  }

  /** Waits for something that cannot be stopped. @throws MediaRefusedError at the end of the fetch */
  async wait<T>(pending: Promise<T>): Promise<T> {
    let stop = () => {};
    const end = new Promise<never>((_resolve, reject) => {
      stop = () => reject(this.signal.reason);
      this.signal.addEventListener('abort', stop);
      if (this.signal.aborted) stop();
    });
    try {
      return await Promise.race([pending, end]);
    } finally {
      this.signal.removeEventListener('abort', stop);
    }
  }

  /** See `Clock.elapsed`. */
  elapsed(): number {
    return this.clock.elapsed();
  }

  /** Ends everything. The first reason stands. */
  end(reason = 'closed'): void {
    this.request.removeEventListener('abort', this.stopped);
    for (const cancel of this.timers) cancel();
    this.timers.clear();
    if (!this.signal.aborted) this.ending.abort(new MediaRefusedError(reason));
  }

  /** What a failure means: the end of the fetch where that was the cause, else itself. */
  refusal(error: unknown): MediaRefusedError {
    if (this.signal.reason instanceof MediaRefusedError) return this.signal.reason;
    return error instanceof MediaRefusedError ? error : new MediaRefusedError('the connection failed');
  }
}
