import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { retryWhileUnavailable } from '../../common/concurrency/async.js';
import { Batcher } from '../../common/concurrency/batcher.js';
import { StorageUnavailableError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../../common/log.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { eventText } from '../../events/event-text.js';
import type { NewEvent } from '../../events/event-types.js';
import type { ReceivedMessage } from '../../events/events.api.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import { OutboxStore } from '../../outbox/outbox-store.js';
import { MsgappSettings } from '../msgapp-options.js';
import type { IncomingMsgapp } from '../msgapp-transport.js';
import { SessionVault } from '../sessions/credential-vault.js';
import { type MessageReceiver, SessionManager } from '../sessions/session-manager.js';
import type { StoredSession } from '../sessions/session-records.js';
import { RECEIVED_FILE, type ReceivedFile } from './received-file.js';
import { type NewReceived, ReceivedMessageStore } from './received-message-store.js';

/**
 * The maximum number of bytes, as JSON, of a text together with the text that it answers. An event has at most 8 KiB.
 */
const TEXT_BYTES = 6144;
const QUOTE_BYTES = 512;
const NAME_BYTES = 256;

/** How many messages may wait for the storage. Further messages are lost. */
const WAITING_LIMIT = 10_000;
/** How many messages a transaction stores at most. */
const AT_A_TIME = 100;

interface Arrived {
  readonly session: StoredSession;
  readonly message: IncomingMsgapp;
}

/**
 * Stores the messages that people write to the linked numbers, each once, as events. The app counts a message as delivered before
 * it is stored. So if the storage does not answer, messages wait here.
 */
@Injectable()
export class ReceivedMessages implements MessageReceiver {
  private readonly log: FaultLog;
  private readonly stopping = new AbortController();
  private readonly stores = new Batcher<Arrived, NewEvent<'msgapp.received'> | undefined>({
    perform: (batch) => this.store(batch),
    maxItems: AT_A_TIME,
  });
  private readonly waiting = new Set<Promise<void>>();

  constructor(
    sessions: SessionManager,
    private readonly received: ReceivedMessageStore,
    private readonly outbox: OutboxStore,
    private readonly vault: SessionVault,
    private readonly settings: MsgappSettings,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {
    this.log = faultLog('Msgapp', clock);
    sessions.receiveWith(this);
  }

  async receive(session: StoredSession, message: IncomingMsgapp): Promise<void> {
    if (this.waiting.size >= WAITING_LIMIT) {
      const { channel } = this.settings;
      this.log.error('A received message is lost, because too many messages wait for the storage.', { channel });
      return;
    }
    const storing = this.take({ session, message });
    this.waiting.add(storing);
    await storing.finally(() => this.waiting.delete(storing));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.waiting);
  }

  /** Never rejects, even if a message has content that no database accepts. */
  private async take(arrived: Arrived): Promise<void> {
    try {
      const event = await this.stores.add(arrived);
      if (event) this.events.publish(event);
    } catch (error) {
      const fields = { code: faultCode(error), channel: this.settings.channel };
      this.log.error(`A received message could not be stored: ${nameOf(error)}.`, fields);
    }
  }

  /** Stores a batch. Returns the events of the new messages. */
  private async store(batch: readonly Arrived[]): Promise<readonly (NewEvent<'msgapp.received'> | undefined)[]> {
    const { clock, stopping } = this;
    let warned = false;
    const onUnavailable = (error: StorageUnavailableError) => {
      const fields = { code: faultCode(error), channel: this.settings.channel };
      if (!warned) this.log.warn(`Received messages wait for the storage: ${nameOf(error)}.`, fields);
      warned = true;
    };
    const patience = { clock, until: Number.POSITIVE_INFINITY, signal: stopping.signal, onUnavailable };
    return retryWhileUnavailable(patience, async () => {
      const ours = await this.ownMessages(batch);
      // Each attempt has new ids. If an attempt stored the messages and its answer was lost, the messages are not new to the next
      // attempt.
      const rows = batch.map((each) => this.rowOf(each, this.ids.next(), ours.get(each)));
      const isNew = await this.received.receive(rows);
      return rows.map(({ event }, index) => (isNew[index] ? event : undefined));
    });
  }

  /** Returns the ids of our messages to which these messages refer, if they belong to the same account. */
  private async ownMessages(batch: readonly Arrived[]): Promise<ReadonlyMap<Arrived, string>> {
    const { channel } = this.settings;
    const references = new Set(batch.flatMap(({ message }) => message.refersTo?.reference ?? []));
    const ours = new Map<Arrived, string>();
    if (references.size === 0) return ours;
    const found = await this.outbox.byReference(channel, [...references]);
    for (const each of batch) {
      const places = found.filter(({ reference }) => reference === each.message.refersTo?.reference);
      // Anybody can quote anything, also a message of another account.
      for (const { messageId } of places) {
        if (await this.outbox.find(each.session.accountId, channel, messageId)) ours.set(each, messageId);
      }
    }
    return ours;
  }

  private rowOf({ session, message }: Arrived, id: string, refersTo: string | undefined): NewReceived {
    const { id: sessionId, accountId } = session;
    const { media } = message;
    const at = this.clock.now();
    const number = message.from !== undefined && isPhoneNumber(message.from) ? message.from : undefined;
    const file: ReceivedFile | undefined = media && { file: media.file, fileName: short(media.fileName) };
    const name = createHash('sha256')
      .update(JSON.stringify([sessionId, message.chat, message.id]))
      .digest('base64url');
    const data = dataOf({ session, message }, { id, from: number, refersTo, at });
    return {
      id,
      name,
      accountId,
      sessionId,
      number,
      receivedAt: at,
      file: file && this.vault.seal(sessionId, RECEIVED_FILE, id, JSON.stringify(file)),
      event: { type: 'msgapp.received', accountId, at, data },
    };
  }
}

interface Checked {
  readonly id: string;
  readonly from: string | undefined;
  readonly refersTo: string | undefined;
  readonly at: number;
}

function dataOf({ session, message }: Arrived, { id, from, refersTo, at }: Checked): ReceivedMessage {
  const text = message.text === undefined ? undefined : eventText(message.text, TEXT_BYTES);
  const quoted = message.refersTo?.text;
  const { media } = message;
  return {
    id,
    channel: session.channel,
    session: session.id,
    from: from ?? null,
    kind: message.kind,
    text: text?.text ?? null,
    truncated: text?.truncated ?? false,
    media: media
      ? {
          mimetype: short(media.mimetype) ?? '',
          size: media.size !== undefined && Number.isSafeInteger(media.size) ? media.size : null,
          file_name: short(media.fileName) ?? null,
        }
      : null,
    refers_to: message.refersTo
      ? { id: refersTo ?? null, text: quoted === undefined ? null : eventText(quoted, QUOTE_BYTES).text }
      : null,
    received_at: new Date(at).toISOString(),
  };
}

function short(text: string | undefined): string | undefined {
  return text === undefined ? undefined : eventText(text, NAME_BYTES).text;
}
