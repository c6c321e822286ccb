import type { Clock } from '../../../common/clock.js';
import type { InboundSms } from '../../../sms/sms-transport.js';
import type { PartPlace } from './text-part.js';

/** How long a text waits for its last part, milliseconds. */
const PATIENCE_MS = 600_000;
/** Texts that wait at a time; the oldest goes first. */
const MOST_TEXTS = 1000;
/** What they may hold together, in characters; a part may bring 65 535 octets. */
const MOST_CHARACTERS = 1_000_000;

interface Incomplete {
  readonly first: InboundSms;
  readonly parts: Map<number, string>;
  readonly cancel: () => void;
  characters: number;
}

/** A text of which all parts are here. */
export interface JoinedText {
  readonly text: InboundSms;
  /** It is stored: the parts are forgotten. Until then a last part that comes once more makes it whole again. */
  readonly stored: () => void;
}

/**
 * Puts texts of several parts together. A text whose last part does not come in ten minutes, or that is the oldest when too
 * much waits, is handed on with the parts that came: the carrier was told that we have them. They are kept in memory only.
 */
export class PartJoiner {
  private readonly waiting = new Map<string, Incomplete>();
  private characters = 0;

  /** @param handOn takes a text that will not be complete any more */
  constructor(
    private readonly clock: Clock,
    private readonly handOn: (text: InboundSms) => void,
  ) {}

  /** @returns the whole text when this was its last part */
  add(part: InboundSms, { reference, total, number }: PartPlace): JoinedText | undefined {
    const key = [part.route, part.from, part.to, reference, total].join('\n');
    const text = this.waiting.get(key) ?? this.begin(key, part);
    this.grow(text, part.text.length - (text.parts.get(number)?.length ?? 0));
    text.parts.set(number, part.text);
    if (text.parts.size === total) return { text: joined(text), stored: () => this.forget(key, text) };
    this.makeRoom(() => this.characters > MOST_CHARACTERS);
    return undefined;
  }

  /** Gives up all that waits, with the parts that came. */
  close(): InboundSms[] {
    return [...this.waiting].map(([key, text]) => this.giveUp(key, text));
  }

  private begin(key: string, first: InboundSms): Incomplete {
    this.makeRoom(() => this.waiting.size >= MOST_TEXTS);
    const cancel = this.clock.after(PATIENCE_MS, () => this.handOn(this.giveUp(key, text)));
    const text: Incomplete = { first, parts: new Map(), cancel, characters: 0 };
    this.waiting.set(key, text);
    this.grow(text, key.length);
    return text;
  }

  private makeRoom(isFull: () => boolean): void {
    for (const [oldest, text] of this.waiting) {
      if (!isFull()) return;
      this.handOn(this.giveUp(oldest, text));
    }
  }

  private giveUp(key: string, text: Incomplete): InboundSms {
    this.forget(key, text);
    return joined(text);
  }

  private forget(key: string, text: Incomplete): void {
    if (this.waiting.get(key) !== text) return;
    text.cancel();
    this.waiting.delete(key);
    this.characters -= text.characters;
  }

  private grow(text: Incomplete, characters: number): void {
    text.characters += characters;
    this.characters += characters;
  }
}

function joined({ first, parts }: Incomplete): InboundSms {
  const inOrder = [...parts].sort(([a], [b]) => a - b);
  return { ...first, text: inOrder.map(([, text]) => text).join('') };
}
