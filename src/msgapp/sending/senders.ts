import { Injectable } from '@nestjs/common';
import { FreshCache } from '../../accounts/fresh-cache.js';
import { Clock } from '../../common/clock.js';
import { MessagingError, RECONNECT_SECONDS } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { Notifier } from '../../common/notifier.js';
import { SessionManager } from '../sessions/session-manager.js';
import { byConnection } from '../sessions/session-view.js';

/** A number that can send, with its session. */
export interface Sender {
  readonly sessionId: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** A linked number, which may have no connection at the moment. */
interface LinkedNumber extends Sender {
  readonly isConnected: boolean;
}

/**
 * Caches which numbers of an account are linked, and which of them are connected. Changes in this process apply at once. Changes
 * in other processes apply when a notice comes, or at most four seconds later.
 */
@Injectable()
export class Senders {
  private readonly linked: FreshCache<readonly LinkedNumber[]>;

  constructor(
    private readonly sessions: SessionManager,
    clock: Clock,
    notifier: Notifier,
  ) {
    this.linked = new FreshCache<readonly LinkedNumber[]>(clock, notifier, 'sender', (accountId) =>
      this.read(accountId),
    );
    sessions.listen({
      onStateChange: ({ stored }) => this.linked.forget(stored.accountId),
      onEvent: () => undefined,
    });
  }

  /**
   * Returns the requested sender. Without a request it returns the connected number that was first connected earliest. With
   * `host`, values that are not cached are read in the host's open transaction.
   *
   * @throws MessagingError `error.msgapp_reconnecting` (with `retryAfter`) if the number has lost its connection for now, or,
   * without `from`, if all linked numbers have. `error.msgapp_no_session`, `error.msgapp_not_connected`
   */
  async choose(accountId: string, from?: string, host?: HostTransaction): Promise<Sender> {
    const within = host !== undefined && !this.linked.has(accountId);
    const found = within ? this.read(accountId, host) : this.linked.get(accountId);
    const known = (found instanceof Promise ? await found : found) ?? [];
    const asked = known.filter(({ number }) => from === undefined || number === from);
    const sender = asked.find(({ sessionId, isConnected }) => isConnected && !this.sessions.isCut(sessionId));
    if (sender) return sender;
    const [reconnecting] = asked;
    if (reconnecting) {
      throw new MessagingError('error.msgapp_reconnecting', { from: reconnecting.number }, RECONNECT_SECONDS);
    }
    if (from === undefined) throw new MessagingError('error.msgapp_no_session');
    throw new MessagingError('error.msgapp_not_connected', { from: from.slice(0, 64) });
  }

  private async read(accountId: string, host?: HostTransaction): Promise<readonly LinkedNumber[]> {
    const live = await this.sessions.list(accountId, 0, host);
    return [...live].sort(byConnection).flatMap(({ id, number, status }) => {
      const isConnected = status === 'connected';
      // A number is not linked before its first connection.
      const isLinked = isConnected || status === 'reconnecting';
      return isLinked && number !== undefined ? [{ sessionId: id, number, isConnected }] : [];
    });
  }
}
