import type { LoggerService } from '@nestjs/common';
import type { Clock } from './clock.js';

/** The least time between two logs of the same sentence, in milliseconds. */
const INTERVAL_MS = 60_000;

/**
 * Logs warnings that clients or carriers can cause any number of times: each sentence at once, then at most once a minute,
 * with the number of suppressed ones.
 */
export class RareWarnings {
  private readonly logged = new Map<string, { readonly at: number; suppressed: number }>();

  constructor(
    private readonly log: Pick<LoggerService, 'warn'>,
    private readonly clock: Clock,
  ) {}

  /**
   * @param sentence one of a few constant sentences, as each stays in memory
   * @param detail follows the sentence, and does not make it another one
   */
  warn(sentence: string, detail = ''): void {
    const now = this.clock.elapsed();
    const last = this.logged.get(sentence);
    if (last && now - last.at < INTERVAL_MS) {
      last.suppressed++;
      return;
    }
    this.logged.set(sentence, { at: now, suppressed: 0 });
    const suppressed = last?.suppressed ?? 0;
    const times = suppressed > 0 ? ` (And ${suppressed} times more since it was last said.)` : '';
    this.log.warn(`${sentence}${detail}${times}`);
  }
}

/** The name of a thrown error, for logs: its message may hold secrets or numbers. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'something';
}

const FRAME = /^ {4}at .*(:\d+:\d+|<anonymous>|native)\)?$/;

/** The first frames of an error's stack, each on a line of its own, without the message, which may hold secrets. */
export function stackFrames(error: unknown, most: number): string {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return '';
  // A message may have lines that look like frames; the stack's frames are the last consecutive ones.
  const lines = error.stack.replace(error.message, '').split('\n');
  const start = lines.findLastIndex((line) => !FRAME.test(line)) + 1;
  return lines
    .slice(start, start + most)
    .map((line) => `\n${line}`)
    .join('');
}

/** The reason of an error, for logs: the `reason` of our errors, only the name of others. */
export function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'reason' in error) return String(error.reason);
  return `${nameOf(error)}.`;
}
