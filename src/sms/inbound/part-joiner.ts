import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';
import type { InboundSms } from '../sms-transport.js';
import type { PartPlace } from './part-place.js';

/** How long a text waits for its last part. Milliseconds. */
const MAX_WAIT_MS = 600_000;
/** How long a text is known after it was stored, so that a repeat of one of its parts does not begin another. Milliseconds. */
const KNOWN_MS = 600_000;
/** The maximum number of waiting texts. */
const MAX_TEXTS = 1000;
/** The maximum number of characters of all waiting texts; one part may have 65 535 octets. */
const MAX_CHARACTERS = 1_000_000;

interface Incomplete {
  readonly first: InboundSms;
  readonly reference: string;
  readonly parts: Map<number, string>;
  readonly cancel: () => void;
  characters: number;
}

/** A text that was stored. */
interface Known extends Pick<Incomplete, 'parts' | 'characters'> {
  /** By the clock's `elapsed`. */
  readonly at: number;
}

/** A text with all its parts. */
interface JoinedText {
  readonly text: InboundSms;
  /** Drops the parts. Call it after storing the text; until then a repeat of the last part completes the text again. */
  readonly stored: () => void;
}

/**
 * Joins texts of several parts. A text whose last part does not arrive within ten minutes, and the oldest text when the
 * limits are exceeded, is passed on with the parts that arrived, because these are acknowledged to the carrier. Parts
 * are kept in memory only.
 */
export class PartJoiner {
  private readonly waiting = new Map<string, Incomplete>();
  private readonly known = new LRUCache<string, Known>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ characters }) => characters,
  });
  private characters = 0;

  /** @param passOn receives a text that stays incomplete */
  constructor(
    private readonly clock: Clock,
    private readonly passOn: (text: InboundSms) => void,
  ) {}

  /** Adds a part; returns the whole text when it is the last one. */
  add(part: InboundSms, { reference, total, number }: PartPlace): JoinedText | undefined {
    const key = [part.route, part.from, part.to, reference, total].join('\n');
    if (this.isRepeat(key, number, part.text)) return undefined;
    const text = this.waiting.get(key) ?? this.begin(key, part, reference);
    this.grow(text, part.text.length - (text.parts.get(number)?.length ?? 0));
    text.parts.set(number, part.text);
    if (text.parts.size === total) return { text: joined(text), stored: () => this.keep(key, text) };
    this.makeRoom(() => this.characters > MAX_CHARACTERS);
    return undefined;
  }

  /** Removes all waiting texts and returns them with the parts that arrived. */
  close(): InboundSms[] {
    return [...this.waiting].map(([key, text]) => this.remove(key, text));
  }

  private begin(key: string, first: InboundSms, reference: string): Incomplete {
    this.makeRoom(() => this.waiting.size >= MAX_TEXTS);
    const cancel = this.clock.after(MAX_WAIT_MS, () => this.passOn(this.remove(key, text)));
    const text: Incomplete = { first, reference, parts: new Map(), cancel, characters: 0 };
    this.waiting.set(key, text);
    this.grow(text, key.length);
    return text;
  }

  /** A reference comes back at some time, with other words. */
  private isRepeat(key: string, number: number, text: string): boolean {
    const known = this.known.get(key);
    return known !== undefined && this.clock.elapsed() - known.at < KNOWN_MS && known.parts.get(number) === text;
  }

  private keep(key: string, text: Incomplete): void {
    this.forget(key, text);
    this.known.set(key, { at: this.clock.elapsed(), parts: text.parts, characters: text.characters });
  }

  private makeRoom(isFull: () => boolean): void {
    for (const [oldest, text] of this.waiting) {
      if (!isFull()) return;
      this.passOn(this.remove(oldest, text));
    }
  }

  private remove(key: string, text: Incomplete): InboundSms {
    this.forget(key, text);
    return { ...joined(text), incomplete: true };
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

/** A text has no id of its carrier, which gives one to each part. */
function joined({ first: { id: _, ...first }, reference, parts }: Incomplete): InboundSms {
  const inOrder = [...parts].sort(([a], [b]) => a - b);
  const key = createHash('sha256')
    .update(JSON.stringify([first.from, first.to, reference, inOrder]))
    .digest('base64url');
  return { ...first, text: inOrder.map(([, text]) => text).join(''), key };
}
