import { asciiDigits } from './digits.js';
import { callingCodeOf, countryOf, isCountryCode, isValidNumber, parseNumber } from './phone-number.js';
import { spellingsOf } from './phone-spellings.js';

/**
 * The sender's information about an address: in SMPP its type of number. `short`: a code of the network or an
 * abbreviation.
 */
export type AddressType = 'unknown' | 'international' | 'national' | 'short' | 'alphanumeric';

/** Facts about an address besides its text. */
export interface AddressOrigin {
  /** The country (ISO 3166 alpha-2) in whose national form numbers may be written; undefined: not known. */
  readonly home?: string | undefined;
  /** Default `unknown`. */
  readonly type?: AddressType | undefined;
}

/**
 * An address that was read. `number`: E.164 digits without the plus sign. `name`: a short code or an alphanumeric
 * sender, as it was written.
 */
export type ReadAddress =
  | { readonly kind: 'number'; readonly number: string }
  | { readonly kind: 'name'; readonly name: string };

/** An E.164 number has at least 7 digits. */
const MIN_DIGITS = 7;
/**
 * If the home country is not known, fewer digits than this are not read as a number with its calling code. Most national numbers
 * have 7 to 9 digits, and some of them begin like a small country's numbers. Example: `67720123` is a mobile number
 * in Burkina Faso and, with the calling code 677, a landline of the Solomon Islands.
 */
const MIN_SURE_DIGITS = 10;

/**
 * Reads the address of a phone as carriers, gateways and people write it: `+226…`, `00226…`, `tel:+226…`, with blanks, dots,
 * dashes and parentheses, in any digits of Unicode, and in the national form of the home country. Undefined if the address is
 * ambiguous: a number is never guessed. Takes some microseconds.
 *
 * If an unmarked number can be read in two ways, it is a number of the home country if people there write it like this.
 */
export function readAddress(text: string, origin: AddressOrigin = {}): ReadAddress | undefined {
  const written = plainText(text);
  if (written === '') return undefined;
  if (/\p{L}/u.test(written)) return NUMBER_WITH_TEXT.test(written) ? undefined : { kind: 'name', name: written };
  const digits = written.replace(SEPARATORS, '');
  if (!/^\+?\d+$/.test(digits)) return undefined;
  const number = /^(?:\+|00)\d{7}/.test(digits)
    ? markedNumber(digits.replace(/^(?:\+?00|\+)/, ''))
    : unmarkedNumber(digits.replace('+', ''), origin);
  if (number !== undefined) return { kind: 'number', number };
  const code = digits.replace('+', '');
  return code.length < MIN_DIGITS ? { kind: 'name', name: code } : undefined;
}

/** As `readAddress`, for an address that must be a phone number. Undefined for a short code or a name. */
export function readNumber(text: string, origin?: AddressOrigin): string | undefined {
  const read = readAddress(text, origin);
  return read?.kind === 'number' ? read.number : undefined;
}

/** A plus sign, or as many digits as a number has. If such a text also has letters, it is a number with a remark, not a name. */
const NUMBER_WITH_TEXT = /^\+|(?:\d\D*){7}/;

/** Blanks, dashes and the minus sign, dots, parentheses and slashes between digits. */
const SEPARATORS = /[\s\p{Pd}\u2212.()/_·‧•]/gu;

/** Schemes of URIs, and the prefix of Twilio for numbers of messaging apps. */
const SCHEME = /^(?:tel|sms|smsto|sip|sips|callto|whatsapp|messenger|rcs):(?:\/\/)?/i;
/** `;phone-context=` and the like (RFC 3966), the host of a SIP address, the type of an MMS address. */
const PARAMETERS = /(?:[;?@].*|\/type=plmn.*)$/is;

/** Removes scheme, parameters and invisible characters, and replaces digits of other scripts. */
function plainText(text: string): string {
  const plain = text
    .slice(0, 200)
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Cc}\p{Mn}]/gu, (control) => (/\s/.test(control) ? ' ' : ''));
  const written = asciiDigits(plain).trim();
  if (!SCHEME.test(written)) return written.replace(/\/type=plmn.*$/i, '');
  const context = /;phone-context=(\+\d+)/i.exec(written)?.[1] ?? '';
  return `${context}${written.replace(SCHEME, '').replace(PARAMETERS, '')}`;
}

/** Reads a number that is marked as international. If its block is not known yet, the number counts if its length is valid. */
function markedNumber(digits: string): string | undefined {
  return validNumber(digits) ?? possibleNumber(digits);
}

function unmarkedNumber(digits: string, { home, type = 'unknown' }: AddressOrigin): string | undefined {
  const national = home === undefined ? undefined : nationalNumber(digits, home);
  if (digits.length < MIN_DIGITS) return type !== 'short' && writtenAtHome(digits, home) ? national : undefined;
  if (type === 'national' || type === 'short') return national;
  const international = validNumber(digits);
  if (type === 'international') return international ?? national ?? possibleNumber(digits);
  if (home === undefined) return digits.length < MIN_SURE_DIGITS ? undefined : international;
  if (international === undefined) return national ?? homeNumber(digits, home);
  const isOne = national === undefined || national === international;
  if (isOne) return international;
  return writtenAtHome(digits, home) ? national : undefined;
}

/**
 * Returns a number of its country's numbering plan for digits that begin with a calling code. If the digits themselves are in no
 * plan, it tries today's spelling, and then leaves out a trunk zero behind the calling code. Example: `330612345678` is
 * `33612345678`.
 */
function validNumber(digits: string): string | undefined {
  const known = inPlan(digits);
  if (known !== undefined) return known;
  const repaired = parseNumber(`+${digits}`);
  if (repaired === undefined || repaired.isValid()) return repaired?.number.slice(1);
  const { countryCallingCode: code } = repaired;
  return digits.startsWith(`${code}0`) ? inPlan(code + digits.slice(code.length + 1)) : undefined;
}

/** Returns the digits if their country has numbers of this length, also if their block is not known. */
function possibleNumber(digits: string): string | undefined {
  const parsed = parseNumber(`+${digits}`);
  return parsed?.number === `+${digits}` && parsed.isPossible() ? digits : undefined;
}

/** Returns the digits if they are a number of the home country with its calling code, in a block that we do not know yet. */
function homeNumber(digits: string, home: string): string | undefined {
  return countryOf(digits) === home ? possibleNumber(digits) : undefined;
}

/** Reads digits in the home country's national form, with or without its trunk prefix, as a number with its calling code. */
function nationalNumber(digits: string, home: string): string | undefined {
  if (!isCountryCode(home)) return undefined;
  const code = callingCodeOf(home);
  const direct = inPlan(code + digits);
  if (direct !== undefined) return direct;
  const parsed = parseNumber(digits, home);
  if (parsed?.isValid()) return parsed.number.slice(1);
  // People and carriers put a zero first in countries without a trunk prefix too.
  return digits.startsWith('0') ? inPlan(code + digits.slice(1)) : undefined;
}

function inPlan(number: string): string | undefined {
  return [number, ...spellingsOf(number)].find(isValidNumber);
}

/** Whether people in the home country write the number in these digits: in France with a zero first, in Burkina Faso without. */
function writtenAtHome(digits: string, home: string | undefined): boolean {
  if (home === undefined || !isCountryCode(home)) return false;
  return parseNumber(digits, home)?.formatNational().replace(/\D/g, '') === digits;
}
