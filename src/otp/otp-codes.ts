import { createHmac, timingSafeEqual } from 'node:crypto';
import { MessagingOptionsError } from '../common/errors.js';
import { isStrongSecret, keyFor, SECRET_DISTINCT, SECRET_LENGTH } from '../common/secret.js';
import type { Challenge } from './challenge.js';

/** The account, service and number that a code is valid for. */
export interface OtpBinding {
  readonly accountId: string;
  readonly service: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** The part of a challenge that its code is derived from. */
export type CodeSource = Pick<Challenge, 'id' | 'keyVersion' | 'digits'>;

/**
 * Derives a code whenever it is needed, so that no code is stored. A code is 64 bits of HMAC-SHA256 (RFC 2104) over the
 * challenge's random id and its binding, modulo 10^digits. The HMAC key is not in the database. The bias is small: the most
 * frequent code is more likely than the rarest code by less than one in 10^11.
 */
export class OtpCodes {
  constructor(
    private readonly keys: OtpKeys,
    /** Digits of new codes. */
    readonly digits: number,
  ) {}

  /** The version of the pepper for new challenges. */
  get version(): string {
    return this.keys.current;
  }

  /** Whether the code of a challenge can be derived: its pepper is configured and its length is the configured one. */
  knows({ keyVersion, digits }: CodeSource): boolean {
    return digits === this.digits && this.keys.byVersion.has(keyVersion);
  }

  /** @throws Error if no pepper of that version is configured */
  codeOf({ id, keyVersion, digits }: CodeSource, { accountId, service, number }: OtpBinding): string {
    const key = this.keys.byVersion.get(keyVersion);
    if (!key) throw new Error(`There is no pepper of version ${keyVersion}.`);
    const mac = createHmac('sha256', key)
      .update(JSON.stringify([id, accountId, service, number]))
      .digest();
    const code = mac.readBigUInt64BE() % 10n ** BigInt(digits);
    return code.toString().padStart(digits, '0');
  }

  /** Whether `otp` is the code of the challenge, compared in constant time. */
  matches(challenge: CodeSource, binding: OtpBinding, otp: string): boolean {
    const [expected, given] = [this.codeOf(challenge, binding), otp].map((code) => Buffer.from(code));
    return expected?.length === given?.length && timingSafeEqual(expected ?? EMPTY, given ?? EMPTY);
  }
}

const EMPTY = Buffer.alloc(0);

/** A secret that codes are derived from, kept outside the database. */
export interface OtpPepper {
  /** Its name in the database: 1 to 16 characters of `A-Za-z0-9._-`. Never reuse it for another secret. */
  readonly version: string;
  /** At least 32 random characters. `openssl rand -base64 48` generates a good one. */
  readonly secret: string;
}

/**
 * One secret, which has version `1`, or a list of secrets. New codes use the first secret, and codes of the others can still be
 * verified.
 */
export type OtpPepperOption = string | readonly OtpPepper[];

/** The keys derived from the peppers. */
export interface OtpKeys {
  /** The version for new codes. */
  readonly current: string;
  readonly byVersion: ReadonlyMap<string, Buffer>;
}

const VERSION = /^[A-Za-z0-9._-]{1,16}$/;

/**
 * Derives the keys of the configured peppers.
 * @throws MessagingOptionsError with a sentence that names the wrong pepper. The sentence never has the secret, because the host
 * logs it
 */
export function resolvePeppers(option: unknown): OtpKeys {
  const byVersion = new Map<string, Buffer>();
  for (const { version, secret } of peppersOf(option)) {
    if (typeof version !== 'string' || !VERSION.test(version)) {
      throw new MessagingOptionsError('Option otp.pepper: a version is 1 to 16 characters of A-Z a-z 0-9 . _ -');
    }
    if (byVersion.has(version)) throw new MessagingOptionsError(`Option otp.pepper names version ${version} twice.`);
    byVersion.set(version, keyFor('otp code', checkedSecret(version, secret)));
  }
  const [current] = byVersion.keys();
  if (current === undefined) {
    throw new MessagingOptionsError(
      'Option otp.pepper is missing: the secret that codes are derived from. Make one with "openssl rand -base64 48" and keep it outside the database.',
    );
  }
  return { current, byVersion };
}

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
    throw new MessagingOptionsError(`${name}.${unknown} is not known; the known options are version, secret.`);
  }
  return option;
}

function checkedSecret(version: string, secret: unknown): string {
  if (isStrongSecret(secret)) return secret;
  throw new MessagingOptionsError(
    `Option otp.pepper (version ${version}) is too weak: it must be at least ${SECRET_LENGTH} characters at random, ${SECRET_DISTINCT} of them different. Make one with "openssl rand -base64 48".`,
  );
}
