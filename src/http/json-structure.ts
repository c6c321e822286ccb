import { MessagingError } from '../common/errors.js';

/** What JSON is built of (RFC 8259 sections 2 and 7). */
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A request of ours has two levels; deeper ones are refused, as RFC 8259 section 9 allows: JSON.stringify would run out of stack. */
const DEEPEST = 1000;

/**
 * Counts what a JSON text is built of while its bytes arrive, so that a text which takes long to parse and to walk is refused
 * before it is parsed. The length of a text says little: 47 MB of `{},` are 16 million objects and take JSON.parse 15 s, 50 MB
 * in one string take it 0.1 s.
 */
export class JsonStructure {
  private counted = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;

  /** @param most how many of `{`, `[`, `,` and `:` a text may have outside its strings */
  constructor(private readonly most: number) {}

  /** How many of `{`, `[`, `,` and `:` have come so far. */
  get count(): number {
    return this.counted;
  }

  /**
   * Goes on with the next bytes of the text.
   * @throws MessagingError `error.request_invalid` when the text has too much structure, `error.malformed_json` when it nests
   *   deeper than 1000 levels
   */
  read(json: Uint8Array): void {
    let inString = this.inString;
    let escaped = this.escaped;
    for (let at = 0; at < json.length; at++) {
      const byte = json[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA || byte === COLON) this.add();
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.add();
        if (++this.depth > DEEPEST) throw new MessagingError('error.malformed_json');
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.depth--;
    }
    this.inString = inString;
    this.escaped = escaped;
  }

  private add(): void {
    if (++this.counted > this.most) throw new MessagingError('error.request_invalid');
  }
}
