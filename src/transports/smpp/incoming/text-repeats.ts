import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../../common/at-most.js';
import type { Clock } from '../../../common/clock.js';
import type { InboundSms } from '../../../sms/sms-transport.js';

/** How long a text is remembered, as long as a repeat of it is told from it. */
const REMEMBERED_MS = 3_600_000;
const MAX_TEXTS = 10_000;

/** An SMSC waits for an answer for longer than this. */
const PROMPT_MS = 5000;
/** How long an answer may be on its way: what came earlier before the end of a connection was answered on it. */
const UNSURE_MS = 60_000;

/** One connection to an SMSC. */
export interface Connection {
  /** When it ended, by the clock's `elapsed`; undefined while it is open. */
  endedAt?: number;
}

/** The last time that a text came. */
interface Arrival {
  /** How many texts of these words there have been. */
  count: number;
  connection: Connection;
  /** By the clock's `elapsed`. */
  at: number;
  answeredAt: number | undefined;
}

/** A text's name, and what to call when its answer is about to go out. */
interface NamedText {
  readonly key: string;
  readonly stored: () => void;
}

/**
 * Tells a repeated text from a second one of the same words, because SMPP gives texts no ids. An SMSC repeats a text whose answer
 * it did not get: where the connection ended about that time, or the answer was slow. Otherwise the phone has sent it again. What
 * is remembered is lost with the process; a text then counts as the first of its words.
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

/** Whether the SMSC has got the answer to a text, so that it will not repeat it. */
function wasAnswered({ at, answeredAt, connection: { endedAt } }: Arrival): boolean {
  if (answeredAt === undefined || answeredAt - at > PROMPT_MS) return false;
  return endedAt === undefined || endedAt - answeredAt > UNSURE_MS;
}
