import { inspect } from 'node:util';
import { Logger, type LoggerService } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.js';
import { atMost } from './concurrency/at-most.js';
import { MessagingError, StorageUnavailableError } from './errors.js';
import { MINUTE_MS } from './time.js';

/** The least time between two lines of the same kind of fault, in milliseconds. */
const INTERVAL_MS = MINUTE_MS;

/** The maximum number of kinds of faults that one log distinguishes. */
const KINDS = 500;

/** The fields of a line, besides its sentence. Hosts with structured logs search by them. */
interface LogFields {
  /** The error in one word: our own code, a carrier's or a database's. */
  readonly code?: string | undefined;
  readonly channel?: string | undefined;
  readonly route?: string | undefined;
  readonly messageId?: string | undefined;
  readonly requestId?: string | undefined;
  /** The session of a linked number, on a messaging app. */
  readonly sessionId?: string | undefined;
  /** The endpoint of a webhook. */
  readonly endpointId?: string | undefined;
}

/**
 * A line for Nest's `Logger`. Loggers that take objects (pino) get `msg` and the fields; Nest's own prints one line of text.
 * Phone numbers are masked. Control characters are escaped, so that no text from outside can begin a line of its own.
 */
export class LogLine {
  readonly msg: string;

  constructor(sentence: string, fields: LogFields & { readonly repeats?: number } = {}) {
    this.msg = masked(sentence.replace(CONTROLS_BUT_FRAMES, escaped));
    // Fields without a value are left out: pino would print them.
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) Object.assign(this, { [name]: typeof value === 'string' ? fromOutside(value) : value });
    }
  }

  toString(): string {
    return this.msg;
  }

  /** Prints the sentence, then the fields whose values are not in it. */
  [inspect.custom](): string {
    const { msg } = this;
    const unnamed = Object.entries(this).filter(([name, value]) => name !== 'repeats' && !msg.includes(String(value)));
    return unnamed.length === 0 ? msg : `${msg} (${unnamed.map(([name, value]) => `${name} ${value}`).join(', ')})`;
  }
}

/** The logger that a fault log writes to. */
type FaultSink = Pick<LoggerService, 'warn' | 'error'>;

/**
 * Logs faults that clients, carriers and databases can cause any number of times. The first fault of a kind is logged at once.
 * Later ones are logged at most once a minute, with the number of faults that were left out.
 */
export class FaultLog {
  private readonly sink: FaultSink;
  private readonly said = new LRUCache<string, { readonly at: number; suppressed: number }>(atMost(KINDS));

  /** @param sink a logger, or the context of a Nest logger */
  constructor(
    sink: FaultSink | string,
    private readonly clock: Pick<Clock, 'elapsed'> = { elapsed: () => performance.now() },
  ) {
    this.sink = typeof sink === 'string' ? new Logger(sink) : sink;
  }

  /**
   * @param sentence identifies the kind, together with the code, the channel and the route; it has no ids and no numbers
   * @param detail follows the sentence and does not change the kind
   */
  warn(sentence: string, fields: LogFields = {}, detail = ''): void {
    this.say('warn', sentence, fields, detail);
  }

  /** As `warn`, if something is lost or an operator must act. */
  error(sentence: string, fields: LogFields = {}, detail = ''): void {
    this.say('error', sentence, fields, detail);
  }

  private say(level: 'warn' | 'error', sentence: string, fields: LogFields, detail: string): void {
    const now = this.clock.elapsed();
    const { code, channel, route } = fields;
    const kind = JSON.stringify([level, sentence, code, channel, route]);
    const last = this.said.get(kind);
    if (last && now - last.at < INTERVAL_MS) {
      last.suppressed++;
      return;
    }
    this.said.set(kind, { at: now, suppressed: 0 });
    const repeats = last?.suppressed ?? 0;
    const times = repeats > 0 ? ` (This happened ${repeats} more times since it was last logged.)` : '';
    this.sink[level](new LogLine(`${sentence}${detail}${times}`, { ...fields, ...(repeats > 0 && { repeats }) }));
  }
}

/**
 * The fault logs of each application, by its clock and the logger's name. Parts of an application that use the same
 * name share one fault log.
 */
const logs = new WeakMap<object, Map<string, FaultLog>>();

/** The fault log of an application for a context of Nest's logger. */
export function faultLog(context: string, clock: Pick<Clock, 'elapsed'>): FaultLog {
  const own = logs.get(clock) ?? new Map<string, FaultLog>();
  logs.set(clock, own);
  const log = own.get(context) ?? new FaultLog(context, clock);
  own.set(context, log);
  return log;
}

/** Digits that may be a phone number. Digits within ids do not match. */
const NUMBER = /(?<![\w-])\d{7,15}(?![\w-])/g;

/** Masks the phone numbers in a text: the first three and the last two digits remain. */
export function masked(text: string): string {
  return text.replace(NUMBER, (digits) => `${digits.slice(0, 3)}${'*'.repeat(digits.length - 5)}${digits.slice(-2)}`);
}

/**
 * Characters that move the cursor of a terminal or begin a line: controls, line and paragraph separators, and marks that change
 * the direction of writing (Unicode's Bidi_Control).
 */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
/**
 * As `CONTROLS`, except for the line breaks before the frames of a stack and before a cause. `logFault` writes these
 * itself.
 */
const CONTROLS_BUT_FRAMES = new RegExp(`(?!\\n(?: {4}at |Caused by: ))${CONTROLS.source}`, 'gu');

/** The maximum number of characters of a text from outside in a log. */
const MAX_FROM_OUTSIDE = 100;

/**
 * Prepares a text from a carrier, a caller or a token for a log or a terminal: escapes control characters and cuts the text.
 * @example `fromOutside('a\r\nb')` is `a\\r\\nb`
 */
export function fromOutside(text: string): string {
  const shown = text
    .slice(0, MAX_FROM_OUTSIDE)
    .replace(/[\ud800-\udbff]$/, '')
    .replace(CONTROLS, escaped);
  return text.length > MAX_FROM_OUTSIDE ? `${shown}…` : shown;
}

/** A text with its control characters escaped. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escaped);
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(control: string): string {
  return SHORT[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The name of a thrown error, for logs. Its message is not logged, because it may contain secrets or numbers. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'something';
}

/**
 * The word of an error for the field `code`: our own, the operating system's or the database's code, otherwise the error's
 * name.
 */
export function faultCode(error: unknown): string {
  if (error instanceof StorageUnavailableError) return 'storage_unavailable';
  if (error instanceof MessagingError) return error.code.replace(/^error\./, '');
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? code : nameOf(error);
}

const FRAME = /^ {4}at .*(:\d+:\d+|<anonymous>|native)\)?$/;

/**
 * The first frames of an error's stack, each on a line of its own. The message is left out, because it may contain
 * secrets.
 */
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

/** The reason of an error, for logs: the `reason` of our own errors, and only the name of others. */
export function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'reason' in error) return String(error.reason);
  return `${nameOf(error)}.`;
}
