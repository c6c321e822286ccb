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

/** What was thrown, in words that may be logged: an error's own message may hold what must not be. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'something';
}

const FRAME = /^ {4}at .*(:\d+:\d+|<anonymous>|native)\)?$/;

/** Where an error was thrown: its first frames, each on a line of its own; without its message, which may hold secrets. */
export function stackFrames(error: unknown, most: number): string {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return '';
  // A message may have lines that look like frames: those of the stack are the last ones, without a gap.
  const lines = error.stack.replace(error.message, '').split('\n');
  const start = lines.findLastIndex((line) => !FRAME.test(line)) + 1;
  return lines
    .slice(start, start + most)
    .map((line) => `\n${line}`)
    .join('');
}

/** What is wrong, in words that may be logged: the reason of our own errors, of others' the name only. */
export function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'reason' in error) return String(error.reason);
  return `${nameOf(error)}.`;
}
