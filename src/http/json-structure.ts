import { MessagingError } from '../common/errors.js';

/** Structural characters of JSON (RFC 8259 sections 2 and 7). */
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The deepest nesting that is accepted (RFC 8259 section 9 allows a limit). Our requests have two levels, and JSON.stringify would
 * overflow the stack at much deeper ones.
 */
const DEEPEST = 1000;

/**
 * The maximum number of members of an object. Our objects have at most a few dozen. JSON.parse hashes and compares each name, so an object with
 * very many names blocks it: 500 000 names in 7 MB took 1.7 s.
 */
const MAX_MEMBERS = 1000;

/**
 * Counts the structural characters of a JSON text while its bytes arrive, so that a text that would be slow to parse is refused
 * before it is parsed. The length says little: JSON.parse takes 15 s for 47 MB of `{},` (16 million objects), but 0.1 s for
 * 50 MB in one string.
 */
export class JsonStructure {
  private counted = 0;
  /** How many members each open array or object has so far. */
  private readonly members: number[] = [];
  private inString = false;
  private escaped = false;

  private containers = 0;

  /**
   * @param most how many of `{`, `[`, `,` and `:` a text may have outside its strings
   * @param mostContainers how many of these may be `{` and `[`. JSON.parse takes far longer for an object or a list than for a
   * member or an item
   */
  constructor(
    private readonly most: number,
    private readonly mostContainers = most,
  ) {}

  /** The number of `{`, `[`, `,` and `:` read so far. */
  get count(): number {
    return this.counted;
  }

  /**
   * Reads the next bytes of the text.
   * @throws MessagingError `error.request_invalid` when the text has too much structure, or an object more than 1000 members;
   *   `error.malformed_json` when it nests deeper than 1000 levels
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
      else if (byte === COMMA) this.add();
      else if (byte === COLON) this.addMember();
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.add();
        if (++this.containers > this.mostContainers) throw new MessagingError('error.request_invalid');
        if (this.members.push(0) > DEEPEST) throw new MessagingError('error.malformed_json');
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.members.pop();
    }
    this.inString = inString;
    this.escaped = escaped;
  }

  private addMember(): void {
    this.add();
    const open = this.members.length - 1;
    const count = (this.members[open] ?? 0) + 1;
    if (count > MAX_MEMBERS) throw new MessagingError('error.request_invalid');
    // A colon outside every object is not valid JSON. JSON.parse will refuse it.
    if (open >= 0) this.members[open] = count;
  }

  private add(): void {
    if (++this.counted > this.most) throw new MessagingError('error.request_invalid');
  }
}
