import type { Clock } from '../../../common/clock.js';
import type { InboundSms } from '../../../sms/sms-transport.js';
import type { PartPlace } from './text-part.js';

/** How long a text waits for its last part, milliseconds. */
const PATIENCE_MS = 600_000;
/** Texts that wait at a time; the oldest goes first. */
const MOST_TEXTS = 1000;

interface Incomplete {
  readonly first: InboundSms;
  readonly parts: Map<number, string>;
  readonly cancel: () => void;
}

/**
 * Puts texts of several parts together. A text whose last part does not come in ten minutes, or that waits when a thousand
 * others do, is handed on with the parts that came: the carrier was told that we have them. They are kept in memory only.
 */
export class PartJoiner {
  private readonly waiting = new Map<string, Incomplete>();

  /** @param handOn takes a text that will not be complete any more */
  constructor(
    private readonly clock: Clock,
    private readonly handOn: (text: InboundSms) => void,
  ) {}

  /** @returns the whole text when this was its last part */
  add(part: InboundSms, { reference, total, number }: PartPlace): InboundSms | undefined {
    const key = [part.route, part.from, part.to, reference, total].join('\n');
    const text = this.waiting.get(key) ?? this.begin(key, part);
    text.parts.set(number, part.text);
    if (text.parts.size < total) return undefined;
    return this.finish(key, text);
  }

  /** Gives up all that waits, with the parts that came. */
  close(): InboundSms[] {
    return [...this.waiting].map(([key, text]) => this.finish(key, text));
  }

  private begin(key: string, first: InboundSms): Incomplete {
    for (const [oldest, text] of this.waiting) {
      if (this.waiting.size < MOST_TEXTS) break;
      this.handOn(this.finish(oldest, text));
    }
    const cancel = this.clock.after(PATIENCE_MS, () => this.handOn(this.finish(key, text)));
    const text = { first, parts: new Map<number, string>(), cancel };
    this.waiting.set(key, text);
    return text;
  }

  private finish(key: string, { first, parts, cancel }: Incomplete): InboundSms {
    cancel();
    this.waiting.delete(key);
    const inOrder = [...parts].sort(([a], [b]) => a - b);
    return { ...first, text: inOrder.map(([, text]) => text).join('') };
  }
}
