/** The ways in which SMSCs write the same message id in the answer to a submit and in its receipt. */
export type IdFormat = 'decimal' | 'padded-decimal' | 'hex' | 'upper-hex' | 'padded-upper-hex';

/** A message id as an SMSC would write it. */
export function writtenId(id: bigint, format: IdFormat): string {
  switch (format) {
    case 'decimal':
      return id.toString();
    case 'padded-decimal':
      return id.toString().padStart(10, '0');
    case 'hex':
      return id.toString(16);
    case 'upper-hex':
      return id.toString(16).toUpperCase();
    case 'padded-upper-hex':
      return id.toString(16).toUpperCase().padStart(8, '0');
  }
}
