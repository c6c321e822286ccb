/** Octets of one SMS's user data, header included (3GPP TS 23.040 clause 9.2.3.24). */
export const USER_DATA_OCTETS = 140;

/** A concatenation header with an 8-bit reference: its length, element 0x00 of 3 octets, reference, total, number. */
export function concatenationHeader(total: number, number: number): Uint8Array {
  return Uint8Array.of(5, 0, 3, 0x2a, total, number);
}

/** User data as the air carries it. */
export interface UserData {
  readonly octets: Uint8Array;
  /** TP-UDL: septets (header and fill bits counted) for GSM-7, octets for UCS-2. */
  readonly length: number;
  readonly hasHeader: boolean;
}

/** Packs septets behind a header: seven bits each, least significant first, after fill bits up to a septet's boundary. */
export function packGsm7(septets: Uint8Array, header: Uint8Array = new Uint8Array()): UserData {
  const headerSeptets = Math.ceil((header.length * 8) / 7);
  const length = headerSeptets + septets.length;
  const octets = new Uint8Array(Math.ceil((length * 7) / 8));
  octets.set(header);
  septets.forEach((septet, index) => {
    for (let bit = 0; bit < 7; bit++) {
      if ((septet >> bit) & 1) setBit(octets, (headerSeptets + index) * 7 + bit);
    }
  });
  return { octets, length, hasHeader: header.length > 0 };
}

/** The septets of packed user data, without the header. */
export function unpackGsm7({ octets, length, hasHeader }: UserData): Uint8Array {
  const headerSeptets = Math.ceil((headerOctets(octets, hasHeader) * 8) / 7);
  return Uint8Array.from({ length: length - headerSeptets }, (_, index) => {
    let septet = 0;
    for (let bit = 0; bit < 7; bit++) septet |= bitAt(octets, (headerSeptets + index) * 7 + bit) << bit;
    return septet;
  });
}

/** UCS-2 behind a header. */
export function packUcs2(units: Uint8Array, header: Uint8Array = new Uint8Array()): UserData {
  const octets = Uint8Array.of(...header, ...units);
  return { octets, length: octets.length, hasHeader: header.length > 0 };
}

/** The text of UCS-2 user data. Throws if a unit is cut or a surrogate is alone. */
export function readUcs2({ octets, hasHeader }: UserData): string {
  return new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }).decode(
    octets.subarray(headerOctets(octets, hasHeader)),
  );
}

/** The characters that a phone shows for septets. Throws if an escape has no known character after it. */
export function readGsm7(septets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < septets.length; at++) {
    const septet = septets[at] ?? -1;
    const codePoint = septet === 0x1b ? EXTENSION.get(septets[++at] ?? -1) : BASIC[septet];
    if (codePoint === undefined) throw new Error(`septet ${at} means nothing`);
    text += String.fromCodePoint(codePoint);
  }
  return text;
}

function headerOctets(octets: Uint8Array, hasHeader: boolean): number {
  return hasHeader ? 1 + (octets[0] ?? 0) : 0;
}

function setBit(octets: Uint8Array, bit: number): void {
  octets[bit >> 3] = (octets[bit >> 3] ?? 0) | (1 << (bit & 7));
}

function bitAt(octets: Uint8Array, bit: number): number {
  return ((octets[bit >> 3] ?? 0) >> (bit & 7)) & 1;
}

/** Septets from 0x20 on that are not the ASCII character with the same number. */
const NOT_ASCII: ReadonlyMap<number, number> = new Map([
  [0x24, 0xa4],
  [0x40, 0xa1],
  [0x5b, 0xc4],
  [0x5c, 0xd6],
  [0x5d, 0xd1],
  [0x5e, 0xdc],
  [0x5f, 0xa7],
  [0x60, 0xbf],
  [0x7b, 0xe4],
  [0x7c, 0xf6],
  [0x7d, 0xf1],
  [0x7e, 0xfc],
  [0x7f, 0xe0],
]);

/**
 * The tables of TS 23.038 clause 6.2.1 once more, in code points, so that a slip in `src/` shows: septets 0x00–0x1F and
 * the positions above where the alphabet is not ASCII.
 */
const BASIC: readonly (number | undefined)[] = [
  0x40,
  0xa3,
  0x24,
  0xa5,
  0xe8,
  0xe9,
  0xf9,
  0xec,
  0xf2,
  0xc7,
  0x0a,
  0xd8,
  0xf8,
  0x0d,
  0xc5,
  0xe5,
  0x394,
  0x5f,
  0x3a6,
  0x393,
  0x39b,
  0x3a9,
  0x3a0,
  0x3a8,
  0x3a3,
  0x398,
  0x39e,
  undefined,
  0xc6,
  0xe6,
  0xdf,
  0xc9,
  ...Array.from({ length: 0x60 }, (_, index) => NOT_ASCII.get(0x20 + index) ?? 0x20 + index),
];

const EXTENSION: ReadonlyMap<number, number> = new Map([
  [0x0a, 0x0c],
  [0x14, 0x5e],
  [0x28, 0x7b],
  [0x29, 0x7d],
  [0x2f, 0x5c],
  [0x3c, 0x5b],
  [0x3d, 0x7e],
  [0x3e, 0x5d],
  [0x40, 0x7c],
  [0x65, 0x20ac],
]);

/** Every character of GSM-7 with its septets. */
export const GSM7_ALPHABET: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ...BASIC.flatMap((codePoint, septet) =>
    codePoint === undefined ? [] : [[String.fromCodePoint(codePoint), [septet]] as const],
  ),
  ...[...EXTENSION].map(([septet, codePoint]) => [String.fromCodePoint(codePoint), [0x1b, septet]] as const),
]);
