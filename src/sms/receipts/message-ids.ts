/** All values of {@link MessageIdFormat}. */
export const MESSAGE_ID_FORMATS = ['same', 'hex-then-decimal', 'decimal-then-hex'] as const;

/**
 * The format of the id in a receipt, compared with the id in the answer to the submit.
 *
 * `same`: equal except for leading zeros, and except for upper and lower case if all letters have the same case.
 * `hex-then-decimal`: hexadecimal in the answer, decimal in the receipt. `decimal-then-hex`: the reverse.
 */
export type MessageIdFormat = (typeof MESSAGE_ID_FORMATS)[number];

const HEX = /^[0-9a-f]{1,32}$/i;
const DECIMAL = /^\d{1,39}$/;
const UUID_LENGTH = 36;
/** The widths to which carriers pad ids with zeros: 32 and 64 bits, in hexadecimal and in decimal. */
const HEX_WIDTHS = [8, 16] as const;
const DECIMAL_WIDTHS = [10, 20] as const;

/**
 * Returns the forms in which a carrier may have returned an id at the submit, the most likely first: as in the receipt, in the
 * other case (`b8be19` for `B8BE19`, none for `AbC12`), with fewer and with more leading zeros, and then converted by the
 * carrier's format. Ids are stored as they were returned at the submit and are compared exactly, so that different ids never
 * match each other. A look-up takes the first known form. One id has at most 16 forms.
 *
 * @param given the ids of one receipt, the most reliable first
 */
export function messageIds(given: readonly string[], format: MessageIdFormat): string[] {
  const ids = given.map((id) => id.trim()).filter((id) => id !== '');
  const forms = ids.flatMap((id) => [...spellings(id), ...converted(id, format), ...padded(id)]);
  return [...new Set([...ids, ...forms])];
}

/** Returns a number with one or two more leading zeros, for carriers that do not pad to a fixed width. */
function padded(id: string): string[] {
  return HEX.test(id) ? [`0${id}`, `00${id}`] : [];
}

/** Returns the id in the other case and with other numbers of leading zeros. */
function spellings(id: string): string[] {
  const bare = id.replace(/^0+(?=.)/, '');
  return [...cases(id), ...cases(bare), ...widthsOf(id).flatMap((width) => cases(bare.padStart(width, '0')))];
}

function widthsOf(id: string): readonly number[] {
  if (DECIMAL.test(id)) return [...HEX_WIDTHS, ...DECIMAL_WIDTHS];
  if (HEX.test(id)) return HEX_WIDTHS;
  // The id may be a UUID without its leading zero.
  return id.includes('-') ? [UUID_LENGTH] : [];
}

/** Converts with BigInt, because ids of 64 bits exceed the precision of a number. */
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

/**
 * Returns the forms of an id in other cases. An id with letters of both cases has no other form, because its carrier
 * distinguishes `AbC12` from `abc12`.
 */
function cases(id: string): string[] {
  const [lower, upper] = [id.toLowerCase(), id.toUpperCase()];
  return id === lower || id === upper ? [id, lower, upper] : [id];
}
