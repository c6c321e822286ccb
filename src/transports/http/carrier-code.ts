const LONGEST = 40;

/**
 * A carrier's code as it is kept, logged and shown: 1 to 40 letters, digits, `.`, `_`, `:` and `-`. A number or a text that
 * a carrier might put there does not get through: nothing with more than 6 digits in a row does.
 */
export function carrierCode(code: string): string {
  const plain = code.replace(/[^A-Za-z0-9._:-]+/g, '_').replace(/\d{7,}/g, '_');
  return plain.slice(0, LONGEST) || 'error';
}
