import type { Clock } from '../common/clock.js';
import { MediaRefusedError } from './media-fetcher.js';

/**
 * The lifetime of one fetch. It ends when the request ends, when a step exceeds its time limit, or when it is closed.
 * All resources of the fetch are released by its signal, so that none is leaked.
 */
export class FetchTime {
  private readonly ending = new AbortController();
  private readonly timers = new Set<() => void>();
  private readonly stopped = () => this.end('the request ended');

  /** @param totalMs the longest lifetime, independent of the request */
  constructor(
    private readonly clock: Clock,
    private readonly request: AbortSignal,
    totalMs: number,
  ) {
    if (request.aborted) this.stopped();
    else request.addEventListener('abort', this.stopped, { once: true });
    this.within(totalMs, 'too slow');
  }

  /** Aborted at the end, with a {@link MediaRefusedError} as its reason. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /**
   * Limits a step to `ms` milliseconds. If the step takes longer, the fetch ends. Call the returned function when the
   * step is complete.
   */
  within(ms: number, reason: string): () => void {
    return this.after(ms, () => this.end(reason));
  }

  /** Runs a task after `ms` milliseconds unless the fetch ends before; returns the function that cancels it. */
  after(ms: number, task: () => void): () => void {
    if (this.signal.aborted) return () => {};
    const cancel = this.clock.after(ms, task);
    this.timers.add(cancel);
    return () => {
      this.timers.delete(cancel);
      cancel();
    };
  }

  /**
   * Awaits a promise that cannot be cancelled, at most until the fetch ends.
   * @throws MediaRefusedError at the end of the fetch
   */
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

  /** Ends the fetch. Only the first reason counts. */
  end(reason = 'closed'): void {
    this.request.removeEventListener('abort', this.stopped);
    for (const cancel of this.timers) cancel();
    this.timers.clear();
    if (!this.signal.aborted) this.ending.abort(new MediaRefusedError(reason));
  }

  /**
   * Converts an error to a refusal. If the end of the fetch caused the error, the result has the reason of that end.
   */
  refusal(error: unknown): MediaRefusedError {
    if (this.signal.reason instanceof MediaRefusedError) return this.signal.reason;
    return error instanceof MediaRefusedError ? error : new MediaRefusedError('the connection failed');
  }
}
