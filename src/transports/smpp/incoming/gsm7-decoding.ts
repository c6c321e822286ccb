import { GSM7_COST, GSM7_ESCAPE, GSM7_SEPTET } from '../../../sms/gsm7.js';

const BASIC: string[] = [];
const EXTENSION: string[] = [];
for (const [unit, cost] of GSM7_COST.entries()) {
  const table = cost === 2 ? EXTENSION : BASIC;
  if (cost) table[GSM7_SEPTET[unit] ?? 0] = String.fromCharCode(unit);
}

/**
 * The text of GSM-7 septets, one in each octet (3GPP TS 23.038 clause 6.2.1). As that clause has it, an escape before what
 * is not in the extension table shows the character of the basic table, and one before another escape a space.
 */
export function decodeGsm7(septets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < septets.length; at++) {
    const septet = septets[at] ?? 0;
    if (septet !== GSM7_ESCAPE) text += BASIC[septet] ?? '';
    else if (++at < septets.length) text += EXTENSION[septets[at] ?? 0] ?? BASIC[septets[at] ?? 0] ?? ' ';
  }
  return text;
}
