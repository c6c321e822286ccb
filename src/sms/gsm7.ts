/** The septet that precedes a character of the extension table (3GPP TS 23.038 clause 6.2.1.1). */
export const GSM7_ESCAPE = 0x1b;

/**
 * The default alphabet, 16 characters per line, in the order of their septets 0x00 to 0x7F (TS 23.038 clause 6.2.1).
 */
const BASIC_TABLE = [
  '@£$¥èéùìòÇ\nØø\rÅå',
  'Δ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ',
  ' !"#¤%&\'()*+,-./',
  '0123456789:;<=>?',
  '¡ABCDEFGHIJKLMNO',
  'PQRSTUVWXYZÄÖÑÜ§',
  '¿abcdefghijklmno',
  'pqrstuvwxyzäöñüà',
].join('');

/** The extension table: the septet that follows the escape, by character (TS 23.038 clause 6.2.1.1). */
const EXTENSION_TABLE: Readonly<Record<string, number>> = {
  '\f': 0x0a,
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
};

/**
 * The number of septets of a UTF-16 code unit: 1 in the default alphabet, 2 in the extension table, 0 if it is not in GSM-7. It
 * is one flat table, so that counting needs one look-up per unit.
 */
export const GSM7_COST = new Uint8Array(65_536);

/** The septet of a UTF-16 code unit. If the cost is 2, it follows an escape. If the cost is 0, it has no meaning. */
export const GSM7_SEPTET = new Uint8Array(65_536);

for (let septet = 0; septet < BASIC_TABLE.length; septet++) {
  // The escape is in the table but is not a character. A phone would combine it with the next septet.
  if (septet !== GSM7_ESCAPE) setSeptet(BASIC_TABLE.charCodeAt(septet), septet, 1);
}
for (const [character, septet] of Object.entries(EXTENSION_TABLE)) setSeptet(character.charCodeAt(0), septet, 2);

function setSeptet(unit: number, septet: number, cost: number): void {
  GSM7_COST[unit] = cost;
  GSM7_SEPTET[unit] = septet;
}
