import { Injectable } from '@nestjs/common';
import { keyedHash } from '../../common/secret.js';
import { HttpSettings } from '../../http/http-options.js';
import { ManagementSettings } from '../management-options.js';

/** The keys that are derived from one secret of the management API, for the routes below one path. */
export interface SecretKeys {
  /** The audience of access tokens. A mount with another path or another secret does not accept them. */
  readonly audience: string;
  /** Signs access tokens. */
  readonly access: Uint8Array;
  /** Signs refresh tokens, and derives each token from the token before it. */
  readonly refresh: Uint8Array;
  /**
   * The name of the cookie. It must be specific, because browsers send cookies to every port of a host, and another service may
   * use another port.
   */
  readonly cookie: string;
}

/** The keys of users' tokens, the current one first. */
@Injectable()
export class ManagementKeys {
  readonly all: readonly SecretKeys[];
  readonly present: SecretKeys;

  constructor({ keys }: ManagementSettings, { path }: HttpSettings) {
    const [first, ...rest] = keys.map((key) => derive(key, path));
    if (first === undefined) throw new Error('There is no secret.');
    this.present = first;
    this.all = [first, ...rest];
  }
}

function derive(key: Buffer, path: string): SecretKeys {
  const part = (purpose: string) => keyedHash(key, `${purpose} ${path}`);
  return {
    audience: `/${path}#${part('audience').slice(0, 16)}`,
    access: Buffer.from(part('access'), 'base64url'),
    refresh: Buffer.from(part('refresh'), 'base64url'),
    cookie: `messaging_session_${part('cookie').slice(0, 8)}`,
  };
}
