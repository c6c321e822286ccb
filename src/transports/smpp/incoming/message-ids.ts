import type { MessageIdFormat } from '../smpp-options.js';

const HEX = /^[0-9a-f]{1,32}$/i;
const DECIMAL = /^\d{1,39}$/;
const UUID_LENGTH = 36;
/** Widths to which carriers fill ids up with zeros: 32 and 64 bits, in hexadecimal and in decimal. */
const HEX_WIDTHS = [8, 16] as const;
const DECIMAL_WIDTHS = [10, 20] as const;

/**
 * The forms in which a carrier may have given an id at the submit, the most trusted first: as the receipt has it, in the
 * other case, with fewer and with more leading zeros, and then converted as the link's format says. Ids are kept as they
 * were given at the submit and compared letter by letter, so that two that differ never become one; whoever looks them up
 * takes the first form that is known. One id has at most 16 forms.
 *
 * @param given ids of one receipt, the most trusted first
 */
export function messageIds(given: readonly string[], format: MessageIdFormat): string[] {
  const ids = given.map((id) => id.trim()).filter((id) => id !== '');
  return [...new Set([...ids, ...ids.flatMap((id) => [...spellings(id), ...converted(id, format)])])];
}

/** The same characters, but for case and leading zeros. */
function spellings(id: string): string[] {
  const bare = id.replace(/^0+(?=.)/, '');
  return [...cases(id), ...cases(bare), ...widthsOf(id).flatMap((width) => cases(bare.padStart(width, '0')))];
}

function widthsOf(id: string): readonly number[] {
  if (DECIMAL.test(id)) return [...HEX_WIDTHS, ...DECIMAL_WIDTHS];
  if (HEX.test(id)) return HEX_WIDTHS;
  // A UUID that lost the zero in front.
  return id.includes('-') ? [UUID_LENGTH] : [];
}

/** In 64 bits and more: a number of JavaScript would lose the last digits. */
function converted(id: string, format: MessageIdFormat): string[] {
  if (format === 'hex-then-decimal' && DECIMAL.test(id)) {
    const hex = BigInt(id).toString(16);
    return [hex, ...HEX_WIDTHS.map((width) => hex.padStart(width, '0'))].flatMap(cases);
  }
  if (format === 'decimal-then-hex' && HEX.test(id)) {
    const decimal = BigInt(`0x${id}`).toString();
    return [decimal, ...DECIMAL_WIDTHS.map((width) => decimal.padStart(width, '0'))];
  }
  return [];
}

function cases(id: string): string[] {
  return [id, id.toLowerCase(), id.toUpperCase()];
}
