import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { MINUTE_MS } from '../common/time.js';
import { fingerprintOf } from '../outbox/idempotency.js';
import { OutboxStore } from '../outbox/outbox-store.js';

/** How long a send can be confirmed, in milliseconds. */
const KEPT_MS = 10 * MINUTE_MS;

/** The name under which the confirmations are kept beside the replies of idempotent requests. */
const ROUTE = 'mcp/confirm';

/** What a token confirms: one send of one account, and no other. */
export interface Confirmable {
  readonly accountId: string;
  /** The key and all arguments of the send, with its idempotency key, so that a token cannot pay for a second send. */
  readonly send: object;
}

/**
 * Keeps the sends that wait for a confirmation, in the database, so that every process can confirm them. They are purged together
 * with the replies of idempotent requests.
 */
@Injectable()
export class Confirmations {
  constructor(
    private readonly store: OutboxStore,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /**
   * Asks for a confirmation of a send.
   * @param units the price that is confirmed
   * @returns the token, which is valid for ten minutes
   */
  async ask({ accountId, send }: Confirmable, units: number): Promise<string> {
    const key = this.ids.bytes(18).toString('base64url');
    const now = this.clock.now();
    const once = { accountId, route: ROUTE, key, fingerprint: await fingerprintOf(send), expiresAt: now + KEPT_MS };
    await this.store.keep(once, { units }, now);
    return key;
  }

  /**
   * Returns how many units a token has confirmed for a send.
   * @throws MessagingError `error.confirmation_unknown` for a token that is unknown, expired, or of another send
   */
  async unitsOf(token: unknown, { accountId, send }: Confirmable): Promise<number> {
    const isToken = typeof token === 'string' && /^[\w-]{24}$/.test(token);
    const found = isToken
      ? await this.store.replay({ accountId, route: ROUTE, key: token }, this.clock.now())
      : undefined;
    if (found?.fingerprint !== (await fingerprintOf(send))) throw new MessagingError('error.confirmation_unknown');
    // `ask` wrote the reply.
    return (found.reply as { readonly units: number }).units;
  }
}
