import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { within } from '../../common/concurrency/async.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { checkAccountId, checkString } from '../../common/inputs.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import { Notifier, publishNotice } from '../../common/notifier.js';
import { SECOND_MS } from '../../common/time.js';
import { MsgappSettings } from '../msgapp-options.js';
import { type Link, type LinkAct, MsgappTransport } from '../msgapp-transport.js';
import { Senders } from '../sending/senders.js';
import { SessionManager } from '../sessions/session-manager.js';
import { SessionStore } from '../sessions/session-store.js';
import { ActStore } from './act-store.js';
import { isEmoji } from './emoji.js';
import type { StoredReceived } from './received-message-store.js';
import { ReceivedOrigins } from './received-origins.js';

/** How long an act may take, in milliseconds. */
const ACT_MS = 10 * SECOND_MS;

/** How often a process looks for acts whose notice was lost, in milliseconds. */
const LOOK_MS = 10 * SECOND_MS;

/** How many acts one look reads. */
const AT_A_TIME = 100;

/** How long a caller should wait before it tries again, in seconds. */
const RETRY_SECONDS = 1;

/**
 * Shows received messages as read, and reacts to them. This needs the connection of a session. If another process has it, the act
 * waits in the database for that process. An act for which no process has a connection within an hour is dropped.
 */
@Injectable()
export class ReceivedActs implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly cancels: (() => void)[] = [];
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly sessions: SessionManager,
    private readonly sessionStore: SessionStore,
    private readonly senders: Senders,
    private readonly origins: ReceivedOrigins,
    private readonly acts: ActStore,
    private readonly transport: MsgappTransport,
    private readonly settings: MsgappSettings,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Shows the writer of a message that it was read.
   *
   * @throws MessagingError `error.message_not_found` if the account has no such message, or no longer. `error.not_supported` if the
   * app has nothing like that. `error.msgapp_not_connected`, `error.msgapp_reconnecting` (with `retryAfter`),
   * `error.storage_unavailable`, also if the app does not answer
   */
  seen(accountId: string, receivedId: string): Promise<void> {
    return this.perform(accountId, receivedId, 'seen', undefined);
  }

  /**
   * Reacts to a message with one emoji, in place of an earlier reaction. An empty text takes the reaction back.
   * @throws MessagingError the errors of `seen`, and `error.field_invalid` for anything but one emoji
   */
  react(accountId: string, receivedId: string, emoji: string): Promise<void> {
    checkString('emoji', emoji);
    if (emoji !== '' && !isEmoji(emoji)) throw new MessagingError('error.field_invalid', { field: 'emoji' });
    return this.perform(accountId, receivedId, 'react', emoji);
  }

  onApplicationBootstrap(): void {
    this.cancels.push(
      this.notifier.listen('act', (id) => {
        if (this.sessions.linkOf(id)) this.look();
      }),
    );
    this.lookAgain();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const cancel of this.cancels) cancel();
    await this.running;
  }

  private async perform(
    accountId: string,
    receivedId: string,
    kind: LinkAct['kind'],
    emoji: string | undefined,
  ): Promise<void> {
    checkAccountId(accountId);
    const found = await this.origins.find(receivedId);
    const session = found && (await this.sessionStore.find(found.sessionId));
    const isOurs = found?.accountId === accountId && session?.channel === this.settings.channel;
    if (!isOurs || session.number === undefined) throw new MessagingError('error.message_not_found');
    if (!this.transport.acts?.includes(kind)) throw new MessagingError('error.not_supported');
    const { sessionId } = await this.senders.choose(accountId, session.number);
    const link = this.sessions.linkOf(sessionId);
    if (link) {
      if (await this.done(found, emoji, link)) return;
      throw new MessagingError('error.storage_unavailable', {}, RETRY_SECONDS);
    }
    await this.acts.add({ id: this.ids.next(), sessionId, receivedId, emoji, askedAt: this.clock.now() });
    publishNotice(this.notifier, 'act', sessionId);
  }

  /** Does what other processes have asked for, one look after another. */
  private look(): void {
    this.running = this.running
      .then(() => this.work())
      .catch((error) => {
        const sentence = `Reactions could not be looked for: ${nameOf(error)}.`;
        faultLog('Msgapp', this.clock).warn(sentence, { code: faultCode(error), channel: this.settings.channel });
      });
  }

  private lookAgain(): void {
    if (this.stopped) return;
    const cancel = this.clock.after(LOOK_MS, () => {
      this.cancels.splice(this.cancels.indexOf(cancel), 1);
      this.look();
      this.lookAgain();
    });
    this.cancels.push(cancel);
  }

  private async work(): Promise<void> {
    const open = this.sessions.sessions.filter(({ id }) => this.sessions.linkOf(id)).map(({ id }) => id);
    for (const act of await this.acts.waiting(open, AT_A_TIME)) {
      if (this.stopped) return;
      const link = this.sessions.linkOf(act.sessionId);
      if (!link) continue;
      const found = await this.origins.find(act.receivedId);
      // Nobody waits for it any more, so what the app does not take is not tried again.
      if (found) await this.done(found, act.emoji, link);
      await this.acts.remove(act.id);
    }
  }

  /** Returns whether the app took an act. Without an emoji the message is shown as read. */
  private async done(received: StoredReceived, emoji: string | undefined, link: Link): Promise<boolean> {
    const message = this.origins.quoteOf(received);
    if (!message || !link.act) return false;
    const act: LinkAct =
      emoji === undefined ? { kind: 'seen', message } : { kind: 'react', message, emoji: emoji || undefined };
    const taken = link.act(act).catch(() => false);
    return (await within(this.clock, ACT_MS, taken)) === true;
  }
}
