import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Challenge } from './challenge.js';
import type { OtpKeys } from './otp-pepper.js';

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
