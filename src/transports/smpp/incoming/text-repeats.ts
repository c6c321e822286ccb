import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../common/clock.js';
import { atMost } from '../../../common/concurrency/at-most.js';
import { HOUR_MS, MINUTE_MS } from '../../../common/time.js';
import type { InboundSms } from '../../../sms/sms-transport.js';

/** How long a text is remembered, in milliseconds. A repeat that comes later counts as a new text. */
const REMEMBERED_MS = HOUR_MS;
const MAX_TEXTS = 10_000;

/** An answer that is faster than this was in time, because every SMSC waits longer for an answer. In milliseconds. */
const PROMPT_MS = 5000;
/**
 * How long an answer may take to reach the SMSC, in milliseconds. If a text came longer than this before its connection ended,
 * the SMSC has certainly received our answer.
 */
const UNSURE_MS = MINUTE_MS;

/** One connection to an SMSC. */
export interface Connection {
  /** When the connection ended, by the clock's `elapsed`. Undefined while it is open. */
  endedAt?: number;
}

/** The last arrival of a text. */
interface Arrival {
  /** How many texts with these words have arrived. */
  count: number;
  connection: Connection;
  /** When the text last arrived, by the clock's `elapsed`. */
  at: number;
  answeredAt: number | undefined;
}

/** The key of a text, and the function to call when its answer is about to go out. */
interface NamedText {
  readonly key: string;
  readonly stored: () => void;
}

/**
 * Distinguishes a repeated text from a second text with the same words, because SMPP gives texts no ids. An SMSC repeats a text
 * if it did not get the answer, because the connection ended about that time or because the answer was slow. In all other cases
 * the phone has sent the words again. After a restart no text is remembered, so a text then counts as the first with its words.
 */
export class TextRepeats {
  private readonly arrivals = new LRUCache<string, Arrival>({ ...atMost(MAX_TEXTS) });

  constructor(private readonly clock: Clock) {}

  arrived({ route, from, to, text }: InboundSms, connection: Connection): NamedText {
    const words = createHash('sha256')
      .update(JSON.stringify([route, from, to, text]))
      .digest('base64url');
    const at = this.clock.elapsed();
    const last = this.arrivals.get(words);
    const isKnown = last !== undefined && at - last.at < REMEMBERED_MS;
    const count = !isKnown ? 1 : last.count + (wasAnswered(last) ? 1 : 0);
    const arrival: Arrival = { count, connection, at, answeredAt: undefined };
    this.arrivals.set(words, arrival);
    return {
      key: `${words} ${count}`,
      stored: () => {
        arrival.answeredAt = this.clock.elapsed();
      },
    };
  }
}

/** Whether the SMSC has received the answer to a text, so that it will not repeat the text. */
function wasAnswered({ at, answeredAt, connection: { endedAt } }: Arrival): boolean {
  if (answeredAt === undefined || answeredAt - at > PROMPT_MS) return false;
  return endedAt === undefined || endedAt - answeredAt > UNSURE_MS;
}
