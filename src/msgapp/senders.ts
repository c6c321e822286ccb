import { Injectable } from '@nestjs/common';
import { FreshCache } from '../accounts/fresh-cache.js';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { Notifier } from '../common/notifier.js';
import { SessionManager } from './sessions/session-manager.js';
import { byConnection } from './sessions/session-view.js';

/** A number that can send, with its session. */
export interface Sender {
  readonly sessionId: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/**
 * Caches which numbers of an account are connected. Changes in this process apply at once; those of other processes when it
 * is notified, at most four seconds later.
 */
@Injectable()
export class Senders {
  private readonly connected: FreshCache<readonly Sender[]>;

  constructor(
    private readonly sessions: SessionManager,
    clock: Clock,
    notifier: Notifier,
  ) {
    this.connected = new FreshCache<readonly Sender[]>(clock, notifier, 'sender', (accountId) => this.read(accountId));
    sessions.listen({
      onStateChange: ({ stored }) => this.connected.forget(stored.accountId),
      onEvent: () => undefined,
    });
  }

  /**
   * Returns the requested sender, or of the numbers connected now the one first connected earliest. With `host`, what is not
   * cached is read in its open transaction.
   *
   * @throws MessagingError `error.msgapp_no_session`, `error.msgapp_not_connected`
   */
  async choose(accountId: string, from?: string, host?: HostTransaction): Promise<Sender> {
    const within = host !== undefined && !this.connected.has(accountId);
    const found = within ? this.read(accountId, host) : this.connected.get(accountId);
    const known = (found instanceof Promise ? await found : found) ?? [];
    const usable = known.filter(({ sessionId }) => !this.sessions.isCut(sessionId));
    const sender = from === undefined ? usable[0] : usable.find(({ number }) => number === from);
    if (sender) return sender;
    if (from === undefined) throw new MessagingError('error.msgapp_no_session');
    throw new MessagingError('error.msgapp_not_connected', { from: from.slice(0, 64) });
  }

  private async read(accountId: string, host?: HostTransaction): Promise<readonly Sender[]> {
    const live = await this.sessions.list(accountId, 0, host);
    return live
      .filter(({ status }) => status === 'connected')
      .sort(byConnection)
      .flatMap(({ id, number }) => (number === undefined ? [] : [{ sessionId: id, number }]));
  }
}
