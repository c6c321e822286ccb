import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { isId } from '../../common/ids.js';
import { noticeEvent } from '../../events/account-events.js';
import { EventPublisher } from '../../events/event-publisher.js';
import type { IncomingCall } from '../../http/incoming-call.js';
import { DEFAULT_TIMING } from '../../outbox/delivery/delivery-result.js';
import type { DeliveryUpdate } from '../../outbox/delivery-state.js';
import { Outbox } from '../../outbox/outbox.js';
import { OutboxStore } from '../../outbox/outbox-store.js';
import { MsgappSettings } from '../msgapp-options.js';
import { type MsgappNews, MsgappTransport, type ReportedMsgapp } from '../msgapp-transport.js';
import type { Arrived } from '../received/received-event.js';
import { ReceivedMessages } from '../received/received-messages.js';
import type { StoredSession } from '../sessions/session-records.js';
import { SessionStore } from '../sessions/session-store.js';

/** How many results of messages, and how many received messages, a transaction stores. */
const RESULTS = 500;
const MESSAGES = 100;

/**
 * Stores what an app reports by calls. Any process may get a call, and an app repeats a call that we do not answer. So everything
 * is stored before the answer, nothing waits in memory, and a repeat changes nothing.
 */
@Injectable()
export class MsgappCallbacks {
  private readonly reportDeadlineMs: number;

  constructor(
    private readonly transport: MsgappTransport,
    private readonly settings: MsgappSettings,
    private readonly sessions: SessionStore,
    private readonly outbox: Outbox,
    private readonly deliveries: OutboxStore,
    private readonly received: ReceivedMessages,
    private readonly publisher: EventPublisher,
    private readonly clock: Clock,
  ) {
    this.reportDeadlineMs = { ...DEFAULT_TIMING, ...transport.timing, ...settings.delivery }.reportDeadlineMs;
  }

  /**
   * Passes a call to the transport's handler. Returns the text of the answer after the content of the call is stored.
   * @throws MessagingError `error.callback_not_found` for an unknown name, `error.callback_refused`, `error.callback_unreadable`,
   * `error.storage_unavailable`
   */
  async receive(name: string, { method, target, headers }: IncomingCall, body: Uint8Array): Promise<string> {
    const handler = this.transport.callbacks.get(name);
    // Frameworks route HEAD to GET. No app uses HEAD.
    if (!handler || method === 'HEAD') throw new MessagingError('error.callback_not_found');
    const query = target.includes('?') ? target.slice(target.indexOf('?') + 1) : '';
    const answer = await handler({ method, query, headers, body }, (news) => this.store(news));
    if (answer.status === 400) throw new MessagingError('error.callback_unreadable');
    if (answer.status === 403) throw new MessagingError('error.callback_refused');
    return answer.body ?? '';
  }

  private async store({ receipts, messages, notices }: MsgappNews): Promise<void> {
    for (const batch of batches(receipts, RESULTS)) await this.settle(batch);
    const sessions = await this.sessionsOf([...messages, ...notices].map(({ address }) => address));
    const arrived = messages.flatMap(({ address, message }): Arrived[] => {
      const session = sessions.get(address);
      return session ? [{ session, message }] : [];
    });
    for (const batch of batches(arrived, MESSAGES)) await this.received.storeNow(batch);
    for (const { address, reason } of notices) {
      const session = sessions.get(address);
      if (session) this.publisher.add(noticeEvent(session, reason, this.clock.now()));
    }
  }

  /** A result that does not name our message is looked up by the app's reference. If no message has it, the result is dropped. */
  private async settle(results: readonly ReportedMsgapp[]): Promise<void> {
    const references = new Set(results.flatMap((each) => (each.messageId === undefined ? [each.reference] : [])));
    const found =
      references.size === 0 ? [] : await this.deliveries.byReference(this.settings.channel, [...references]);
    const updates = results.flatMap((result) => {
      // A message of a linked number has one recipient.
      if (result.messageId !== undefined) {
        return isId(result.messageId) ? [this.updateOf(result, { messageId: result.messageId, position: 0 })] : [];
      }
      return found
        .filter(({ reference }) => reference === result.reference)
        .map((place) => this.updateOf(result, place));
    });
    if (updates.length > 0) await this.outbox.settle(updates);
  }

  private updateOf(
    { reference, status, error, at }: ReportedMsgapp,
    { messageId, position }: Pick<DeliveryUpdate, 'messageId' | 'position'>,
  ): DeliveryUpdate {
    return {
      messageId,
      position,
      status,
      at,
      ...(reference === undefined ? {} : { reference }),
      ...(error === undefined ? {} : { error }),
      ...(status === 'sent' ? { dueAt: at + this.reportDeadlineMs } : {}),
      trail: [{ at, status }],
    };
  }

  private async sessionsOf(addresses: readonly string[]): Promise<ReadonlyMap<string, StoredSession>> {
    const sessions = new Map<string, StoredSession>();
    for (const address of new Set(addresses)) {
      const session = await this.sessions.findLinked(this.settings.channel, address);
      if (session) sessions.set(address, session);
    }
    return sessions;
  }
}

function* batches<T>(items: readonly T[], size: number): Generator<readonly T[], void> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
