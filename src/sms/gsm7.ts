/** Announces a character of the extension table (3GPP TS 23.038 clause 6.2.1.1). */
export const GSM7_ESCAPE = 0x1b;

/** The default alphabet, 16 characters a line, in order of their septets 0x00 to 0x7F (TS 23.038 clause 6.2.1). */
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

/** The extension table: the septet that follows the escape (TS 23.038 clause 6.2.1.1). */
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

/** Septets that a UTF-16 unit costs: 0 when it is not in GSM-7, 1, or 2 in the extension table. One flat table: no branch per alphabet. */
export const GSM7_COST = new Uint8Array(65_536);

/** The septet of a UTF-16 unit; behind an escape where it costs 2, meaningless where it costs 0. */
export const GSM7_SEPTET = new Uint8Array(65_536);

for (let septet = 0; septet < BASIC_TABLE.length; septet++) {
  // The escape is a septet of the table but no character: it would swallow the one behind it.
  if (septet !== GSM7_ESCAPE) enter(BASIC_TABLE.charCodeAt(septet), septet, 1);
}
for (const [character, septet] of Object.entries(EXTENSION_TABLE)) enter(character.charCodeAt(0), septet, 2);

function enter(unit: number, septet: number, cost: number): void {
  GSM7_COST[unit] = cost;
  GSM7_SEPTET[unit] = septet;
}
