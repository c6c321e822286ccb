import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { IdGenerator } from '../common/ids.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
/** 32 × log2(62) = 190 bits. */
const SECRET_LENGTH = 32;
/** 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(
  `^(msgk_([0-9A-Za-z]{${ID_LENGTH}})_([0-9A-Za-z]{${SECRET_LENGTH}}))_([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** A key that was just made; `key` is to be shown once and kept nowhere. */
export interface NewApiKey {
  /** `msgk_<id>_<secret>_<checksum>`, 57 characters. */
  readonly key: string;
  /** The public part: names the key in listings and logs. */
  readonly id: string;
  /** SHA-256 of the secret, hexadecimal: what may be stored. */
  readonly hash: string;
}

/** What a well-formed key says. */
export interface ParsedApiKey {
  readonly id: string;
  readonly secret: string;
}

/** Makes a key from secure randomness, every character equally likely. */
export function makeApiKey(ids: IdGenerator): NewApiKey {
  const id = randomText(ids, ID_LENGTH);
  const secret = randomText(ids, SECRET_LENGTH);
  const body = `msgk_${id}_${secret}`;
  return { key: `${body}_${checksum(body)}`, id, hash: hashSecret(secret) };
}

/**
 * Reads a key; undefined when the shape or the checksum is wrong, so that a typo costs no look-up. A CRC-32 (ISO-HDLC, as
 * in gzip) finds every change within four neighbouring characters, and all but one in 4 × 10⁹ of the others.
 */
export function parseApiKey(text: string): ParsedApiKey | undefined {
  const [, body, id, secret, sum] = SHAPE.exec(text) ?? [];
  if (body === undefined || id === undefined || secret === undefined || checksum(body) !== sum) return undefined;
  return { id, secret };
}

/** Whether a text is a key as this service makes them, with the right checksum; nothing is looked up. */
export function isApiKey(text: string): boolean {
  return parseApiKey(text) !== undefined;
}

/** SHA-256 of a secret, hexadecimal. A plain fast hash is right here: the secret is random, 190 bits, not a password. */
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
  // Bytes at and above the largest multiple of 62 would favour the first digits: they are thrown away.
  const limit = 256 - (256 % DIGITS.length);
  let text = '';
  while (text.length < length) {
    for (const byte of ids.bytes(length)) {
      if (byte < limit && text.length < length) text += DIGITS.charAt(byte % DIGITS.length);
    }
  }
  return text;
}
