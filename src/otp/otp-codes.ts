import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { MessagingOptionsError } from '../common/errors.js';
import type { Challenge } from './challenge.js';

/** What a code is bound to: it is right for nothing else. */
export interface OtpBinding {
  readonly accountId: string;
  readonly service: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** The part of a challenge that its code comes from. */
export type CodeSource = Pick<Challenge, 'id' | 'keyVersion' | 'digits'>;

/**
 * Codes, derived whenever they are needed and kept nowhere: HMAC-SHA256 (RFC 2104) over the challenge's random id and its
 * binding, under a key that is not in the database. 64 bits of it modulo 10^digits: the most frequent code is more likely
 * than the rarest by less than one in 10^11.
 */
export class OtpCodes {
  constructor(
    private readonly keys: OtpKeys,
    /** Digits of new codes. */
    readonly digits: number,
  ) {}

  /** The version that new challenges are made with. */
  get version(): string {
    return this.keys.current;
  }

  /** Whether the code of a challenge can still be made: its pepper is there and codes have its length. */
  knows({ keyVersion, digits }: CodeSource): boolean {
    return digits === this.digits && this.keys.byVersion.has(keyVersion);
  }

  /** @throws Error when the pepper of that version is gone */
  codeOf({ id, keyVersion, digits }: CodeSource, { accountId, service, number }: OtpBinding): string {
    const key = this.keys.byVersion.get(keyVersion);
    if (!key) throw new Error(`There is no pepper of version ${keyVersion}.`);
    const mac = createHmac('sha256', key)
      .update(JSON.stringify([id, accountId, service, number]))
      .digest();
    const code = mac.readBigUInt64BE() % 10n ** BigInt(digits);
    return code.toString().padStart(digits, '0');
  }

  /** Compares in constant time. */
  matches(challenge: CodeSource, binding: OtpBinding, otp: string): boolean {
    const [expected, given] = [this.codeOf(challenge, binding), otp].map((code) => Buffer.from(code));
    return expected?.length === given?.length && timingSafeEqual(expected ?? NOTHING, given ?? NOTHING);
  }
}

const NOTHING = Buffer.alloc(0);

/** A secret that codes are derived from, kept outside the database. */
export interface OtpPepper {
  /** Its name in the database: 1 to 16 of `A-Za-z0-9._-`. Never give it to another secret. */
  readonly version: string;
  /** At least 32 characters, at random; `openssl rand -base64 48` makes one. */
  readonly secret: string;
}

/** One secret (its version is `1`), or several: the first makes new codes, the others still verify what they made. */
export type OtpPepperOption = string | readonly OtpPepper[];

/** The keys of the peppers. */
export interface OtpKeys {
  /** Version that new codes are made with. */
  readonly current: string;
  readonly byVersion: ReadonlyMap<string, Buffer>;
}

const SHORTEST = 32;
const FEWEST_CHARACTERS = 8;
const VERSION = /^[A-Za-z0-9._-]{1,16}$/;

/** @throws MessagingOptionsError with a sentence that says what is wrong with which pepper, and how to make one */
export function resolvePeppers(option: unknown): OtpKeys {
  const byVersion = new Map<string, Buffer>();
  for (const { version, secret } of peppersOf(option)) {
    if (typeof version !== 'string' || !VERSION.test(version)) {
      throw new MessagingOptionsError('Option otp.pepper: a version is 1 to 16 characters of A-Z a-z 0-9 . _ -');
    }
    if (byVersion.has(version)) throw new MessagingOptionsError(`Option otp.pepper names version ${version} twice.`);
    byVersion.set(version, keyOf(checkedSecret(version, secret)));
  }
  const [current] = byVersion.keys();
  if (current === undefined) {
    throw new MessagingOptionsError(
      'Option otp.pepper is missing: the secret that codes are derived from. Make one with "openssl rand -base64 48" and keep it outside the database.',
    );
  }
  return { current, byVersion };
}

/** No sentence shows what was given: a start that fails is logged. */
function peppersOf(option: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof option === 'string') return [{ version: '1', secret: option }];
  if (option === undefined) return [];
  if (!Array.isArray(option)) {
    throw new MessagingOptionsError('Option otp.pepper must be a text, or a list of { version, secret }.');
  }
  for (const [index, pepper] of option.entries()) {
    const name = `Option otp.pepper[${index}]`;
    if (typeof pepper !== 'object' || pepper === null || Array.isArray(pepper)) {
      throw new MessagingOptionsError(`${name} must be { version, secret }.`);
    }
    const unknown = Object.keys(pepper).find((each) => each !== 'version' && each !== 'secret');
    if (unknown === undefined) continue;
    throw new MessagingOptionsError(`${name}.${unknown} is not known; there are version, secret.`);
  }
  return option;
}

function checkedSecret(version: string, secret: unknown): string {
  if (typeof secret === 'string' && secret.length >= SHORTEST && new Set(secret).size >= FEWEST_CHARACTERS)
    return secret;
  // Never the secret itself: a start that fails is logged.
  throw new MessagingOptionsError(
    `Option otp.pepper (version ${version}) is too weak: it must be at least ${SHORTEST} characters at random, ${FEWEST_CHARACTERS} of them different. Make one with "openssl rand -base64 48".`,
  );
}

/** RFC 5869: a key for this purpose only, so that the secret may serve others too. */
function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'nestjs-messaging otp code 1', 32));
}
