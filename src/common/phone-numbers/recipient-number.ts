import { MessagingError } from '../errors.js';
import { formatInput } from '../inputs.js';
import { any, formatValue, type Option } from '../options.js';
import {
  callingCodeOf,
  isCountryCode,
  isPhoneNumber,
  isValidNumber,
  type NationalPlan,
  nationalPlan,
} from './phone-number.js';
import { spellingsOf } from './phone-spellings.js';
import { readNumber } from './read-number.js';

/**
 * Which recipients are refused, in addition to those that are not written in E.164 digits.
 *
 * `home`: numbers of the home market without its calling code (`70000001` for `22670000001`), and numbers with its calling code
 * and a wrong count of digits. True: also every number that is not in its country's numbering plan. False: none.
 */
export type StrictNumbers = boolean | 'home';

/** Reads an option `strictNumbers`. */
export const strictNumbers: Option<StrictNumbers> = any((given, place) =>
  given === 'home' || typeof given === 'boolean'
    ? given
    : place.refuse(`must be true, false or "home"; got ${formatValue(given)}`),
);

/** Checks numbers that somebody wants to send to. */
export class RecipientNumbers {
  private readonly home: HomeMarket | undefined;

  /** @param home the country code of the home market; undefined: not known, so the mistakes of `home` are not looked for */
  constructor(
    readonly strict: StrictNumbers,
    home: string | undefined,
  ) {
    this.home = home === undefined || strict === false ? undefined : new HomeMarket(home);
  }

  /**
   * @throws MessagingError `error.invalid_number`, with the number that was probably meant as the value `meant`, if there is one
   */
  check(number: unknown): asserts number is string {
    const mistake = isPhoneNumber(number) ? this.home?.mistakeIn(number) : { meant: this.home?.meantBy(number) };
    if (mistake === undefined && (this.strict !== true || isValidNumber(number))) return;
    throw invalidNumber(number, mistake?.meant);
  }
}

/** The refusal of a number, with the number that was probably meant. */
export function invalidNumber(number: unknown, meant?: string): MessagingError {
  return new MessagingError('error.invalid_number', {
    number: formatInput(number),
    ...(meant !== undefined && { meant }),
  });
}

/** A number that is certainly a mistake, and the number that was probably meant. */
interface Mistake {
  readonly meant: string | undefined;
}

/**
 * Finds numbers of the home market that were written without its calling code, or with a digit too few or too many. Numbers that
 * are valid in another country pass. Takes less than a microsecond for most numbers.
 */
class HomeMarket {
  private plan: NationalPlan | undefined;
  private code = '';

  constructor(private readonly country: string) {}

  /**
   * Returns the number that was probably meant by a text in another form. Example: `06 12 34 56 78` or
   * `+33 6 12 34 56 78` in France.
   */
  meantBy(given: unknown): string | undefined {
    return typeof given === 'string' ? readNumber(given, { home: this.country, type: 'international' }) : undefined;
  }

  mistakeIn(number: string): Mistake | undefined {
    const { country } = this;
    if (!isCountryCode(country)) return undefined;
    this.plan ??= nationalPlan(country);
    this.code ||= callingCodeOf(country);
    return number.startsWith(this.code) ? this.withCode(number, this.plan) : this.withoutCode(number, this.plan);
  }

  private withCode(number: string, { lengths }: NationalPlan): Mistake | undefined {
    const { code } = this;
    const national = number.slice(code.length);
    const isLong = lengths.has(national.length);
    // A long number of a block that we do not know yet passes, unless it has a trunk zero behind the calling code.
    if ((isLong && !national.startsWith('0')) || spellingsOf(number).length > 1 || this.isInPlan(number))
      return undefined;
    const meant = [readNumber(`+${number}`), `${code}${number}`, national].find(
      (each) => each !== undefined && each !== number && each.startsWith(code) && isValidNumber(each),
    );
    return isLong && meant === undefined ? undefined : { meant };
  }

  private withoutCode(number: string, { trunkPrefix }: NationalPlan): Mistake | undefined {
    const dialled = trunkPrefix !== '' && number.startsWith(trunkPrefix) ? [number.slice(trunkPrefix.length)] : [];
    // Spreadsheets drop a zero that is part of the number: `700000001` is `0700000001` in Côte d'Ivoire.
    const meant = [number, ...dialled, `0${number}`]
      .flatMap((national) => spellingsOf(this.code + national))
      .find((each) => this.isInPlan(each));
    return meant === undefined || isValidNumber(number) ? undefined : { meant };
  }

  private isInPlan(number: string): boolean {
    return this.plan?.numbers.test(number) === true;
  }
}
