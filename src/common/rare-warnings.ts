import type { LoggerService } from '@nestjs/common';
import type { Clock } from './clock.js';

/** How long the same sentence is not said again. */
const EVERY_MS = 60_000;

/**
 * Warnings that somebody outside can bring about as often as they like: each sentence is logged at once, and then once a
 * minute at the most, with how often it would have been.
 */
export class RareWarnings {
  private readonly said = new Map<string, { readonly at: number; more: number }>();

  constructor(
    private readonly log: Pick<LoggerService, 'warn'>,
    private readonly clock: Clock,
  ) {}

  /** @param sentence one of few: each is remembered */
  warn(sentence: string): void {
    const now = this.clock.elapsed();
    const last = this.said.get(sentence);
    if (last && now - last.at < EVERY_MS) {
      last.more++;
      return;
    }
    this.said.set(sentence, { at: now, more: 0 });
    this.log.warn(
      last && last.more > 0 ? `${sentence} (And ${last.more} times more since it was last said.)` : sentence,
    );
  }
}
