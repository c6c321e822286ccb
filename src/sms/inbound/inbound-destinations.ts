import { asciiDigits } from '../../common/phone-numbers/digits.js';
import { phoneOf } from '../../common/phone-numbers/phone-spellings.js';
import { readNumber } from '../../common/phone-numbers/read-number.js';

/** The characters that may be around and between the digits of a short code. */
const AROUND_DIGITS = /[\s+().\-\p{Cf}\p{Cc}]/gu;

/**
 * Finds the signatures that an inbound text is about, by its destination. Carriers write the same destination in several
 * spellings: `0022625000000`, `+226 25 00 00 00` and `25000000` are the number `22625000000`, and `36 111` is the short code
 * `36111`.
 */
export class InboundDestinations {
  private readonly bySpelling: ReadonlyMap<string, readonly string[]>;

  /**
   * @param given signatures by destination
   * @param home the home market, in whose national form destinations may be. Undefined: not known
   */
  constructor(
    private readonly given: ReadonlyMap<string, readonly string[]>,
    private readonly home: string | undefined,
  ) {
    this.bySpelling = new Map([...given].map(([to, signatures]) => [this.plain(to), signatures]));
  }

  /** Returns the signatures of a destination: those of the option, else the destination itself and its plain spelling. */
  signaturesOf(to: string): readonly string[] {
    const plain = this.plain(to);
    return this.given.get(to) ?? this.bySpelling.get(plain) ?? [...new Set([to, plain])];
  }

  /** Returns one spelling for all spellings of a destination. A name stays as it is. */
  private plain(to: string): string {
    const number = readNumber(to, { home: this.home });
    if (number !== undefined) return phoneOf(number);
    const digits = asciiDigits(to).replace(AROUND_DIGITS, '');
    return /^\d+$/.test(digits) ? digits : to;
  }
}
