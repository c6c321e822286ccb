import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { IdGenerator } from '../../common/ids.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
/** The characters of a secret: 32 × log2(62) = 190 bits. */
const SECRET_LENGTH = 32;
/** The characters of a checksum. Six suffice for a CRC-32, because 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(
  `^(msgk_([0-9A-Za-z]{${ID_LENGTH}})_([0-9A-Za-z]{${SECRET_LENGTH}}))_([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** A new key. Show `key` once and do not store it. */
export interface NewApiKey {
  /** `msgk_<id>_<secret>_<checksum>`, 57 characters. */
  readonly key: string;
  /** The public part, which identifies the key in listings and logs. */
  readonly id: string;
  /** SHA-256 of the secret, hexadecimal. Store this instead of the secret. */
  readonly hash: string;
}

/** The parts of a well-formed key. */
export interface ParsedApiKey {
  readonly id: string;
  readonly secret: string;
}

/** Generates a key from secure random bytes; every character is equally likely. */
export function makeApiKey(ids: IdGenerator): NewApiKey {
  const id = randomText(ids, ID_LENGTH);
  const secret = randomText(ids, SECRET_LENGTH);
  const body = `msgk_${id}_${secret}`;
  return { key: `${body}_${checksum(body)}`, id, hash: hashSecret(secret) };
}

/**
 * Parses a key; undefined if the format or the checksum is wrong. So a key with a typo is refused without a look-up.
 * The CRC-32 (ISO-HDLC, as in gzip) detects every change within four adjacent characters, and all but one in 4 × 10⁹ of
 * the other changes.
 */
export function parseApiKey(text: string): ParsedApiKey | undefined {
  const [, body, id, secret, sum] = SHAPE.exec(text) ?? [];
  if (body === undefined || id === undefined || secret === undefined || checksum(body) !== sum) return undefined;
  return { id, secret };
}

/** Whether a text has the format of our keys and a correct checksum. The key is not looked up. */
export function isApiKey(text: string): boolean {
  return parseApiKey(text) !== undefined;
}

/** SHA-256 of a secret, hexadecimal. A fast hash suffices: the secret is 190 random bits, not a password. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** SHA-256 of a secret, 32 bytes. */
export function digestSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = DIGITS.charAt(rest % DIGITS.length) + text;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text;
}

function randomText(ids: IdGenerator, length: number): string {
  // Bytes at or above the largest multiple of 62 are discarded. Otherwise the first digits of the alphabet would be
  // more likely.
  const limit = 256 - (256 % DIGITS.length);
  let text = '';
  while (text.length < length) {
    for (const byte of ids.bytes(length)) {
      if (byte < limit && text.length < length) text += DIGITS.charAt(byte % DIGITS.length);
    }
  }
  return text;
}
