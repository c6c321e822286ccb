import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { hashSecret } from '../../accounts/keys/api-key.js';
import { IdGenerator } from '../../common/ids.js';
import { keyedHash } from '../../common/secret.js';
import { ManagementKeys, type SecretKeys } from './management-keys.js';

/** A refresh token: `<session>.<secret>.<tag>`. */
export interface RefreshToken {
  readonly sessionId: string;
  readonly text: string;
  /** The SHA-256 of the whole token, hexadecimal. Only this is stored. */
  readonly hash: string;
}

const SECRET_BYTES = 32;
const FORMAT = /^([\w-]{1,64})\.([\w-]{43})\.([\w-]{43})$/;

/**
 * Makes and reads the refresh tokens of sessions. The tag proves that a token is one of ours, so that nobody can end a session
 * with an invented token. Each token is derived from the token before it, so that two tabs that refresh at the same time get the
 * same token.
 */
@Injectable()
export class RefreshTokens {
  constructor(
    private readonly keys: ManagementKeys,
    private readonly ids: IdGenerator,
  ) {}

  /** Returns the first token of a session. */
  first(sessionId: string): RefreshToken {
    return signed(this.keys.present, sessionId, this.ids.bytes(SECRET_BYTES).toString('base64url'));
  }

  /**
   * Returns the tokens that may follow a token: by the current secret, and by the previous secret, which may have been the
   * current one then.
   */
  next({ sessionId, text }: RefreshToken): readonly [RefreshToken, ...RefreshToken[]] {
    const by = (keys: SecretKeys) => signed(keys, sessionId, keyedHash(keys.refresh, `next ${text}`));
    const [, ...earlier] = this.keys.all;
    return [by(this.keys.present), ...earlier.map(by)];
  }

  /** Reads a token. Undefined for a text that is not one of our tokens. Such a text needs no look-up. */
  read(text: string): RefreshToken | undefined {
    const [, sessionId = '', secret = '', tag = ''] = FORMAT.exec(text) ?? [];
    const isOurs = this.keys.all.some(({ refresh }) => isEqual(tag, tagOf(refresh, sessionId, secret)));
    return isOurs ? { sessionId, text, hash: hashSecret(text) } : undefined;
  }
}

function signed({ refresh }: SecretKeys, sessionId: string, secret: string): RefreshToken {
  const text = `${sessionId}.${secret}.${tagOf(refresh, sessionId, secret)}`;
  return { sessionId, text, hash: hashSecret(text) };
}

function tagOf(key: Uint8Array, sessionId: string, secret: string): string {
  return keyedHash(key, `tag ${sessionId}.${secret}`);
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
