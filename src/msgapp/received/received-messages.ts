import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { retryWhileUnavailable } from '../../common/concurrency/async.js';
import { Batcher } from '../../common/concurrency/batcher.js';
import { contactIdOf } from '../../common/contact-id.js';
import { StorageUnavailableError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../../common/log.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import type { NewEvent } from '../../events/event-types.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import { OutboxStore } from '../../outbox/outbox-store.js';
import type { Sighting } from '../contacts/contact.js';
import { ContactStore } from '../contacts/contact-store.js';
import { MsgappSettings } from '../msgapp-options.js';
import type { IncomingMsgapp } from '../msgapp-transport.js';
import { SessionVault } from '../sessions/credential-vault.js';
import { type MessageReceiver, SessionManager } from '../sessions/session-manager.js';
import type { StoredSession } from '../sessions/session-records.js';
import { type Arrived, dataOf, identityOf, numberOf, quoteOf, referenceOf, short } from './received-event.js';
import { RECEIVED_FILE, type ReceivedFile } from './received-file.js';
import { type NewReceived, ReceivedMessageStore } from './received-message-store.js';
import { ReceivedOrigins } from './received-origins.js';

/** How many messages may wait for the storage. Further messages are lost. */
const WAITING_LIMIT = 10_000;
/** How many messages a transaction stores at most. */
const AT_A_TIME = 100;

/** Nobody answers a reaction. */
const NOT_REFERRED_TO = { origin: undefined, quote: undefined };

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
  /** After the link of a number, the app may say which identities thousands of numbers have. */
  private readonly sightings = new Batcher<Sighting, void>({
    perform: async (batch) => {
      for (const event of await this.contacts.meet(batch)) this.events.publish(event);
      return batch.map(() => undefined);
    },
    maxItems: AT_A_TIME,
  });
  private readonly waiting = new Set<Promise<void>>();

  constructor(
    sessions: SessionManager,
    private readonly received: ReceivedMessageStore,
    private readonly contacts: ContactStore,
    private readonly origins: ReceivedOrigins,
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
    await this.waitFor(this.take({ session, message }));
  }

  async identify(
    { accountId, channel, number: linked }: StoredSession,
    { identity, number }: { readonly identity: string; readonly number: string },
  ): Promise<void> {
    if (linked === undefined || !isPhoneNumber(number) || this.waiting.size >= WAITING_LIMIT) return;
    const sighting = { accountId, channel, linked, identity, number, newId: undefined, at: this.clock.now() };
    await this.waitFor(this.learn(sighting));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.waiting);
  }

  private async waitFor(storing: Promise<void>): Promise<void> {
    this.waiting.add(storing);
    await storing.finally(() => this.waiting.delete(storing));
  }

  /** Stores which number a person has. Never rejects. If the storage does not answer, the person's next message says it again. */
  private async learn(sighting: Sighting): Promise<void> {
    try {
      await this.sightings.add(sighting);
    } catch (error) {
      const fields = { code: faultCode(error), channel: this.settings.channel };
      this.log.warn(`The number of a contact could not be stored: ${nameOf(error)}.`, fields);
    }
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

  /**
   * Stores messages and publishes their events. It does not wait for the storage.
   * @throws StorageUnavailableError
   */
  async storeNow(batch: readonly Arrived[]): Promise<void> {
    for (const event of await this.attempt(batch)) if (event) this.events.publish(event);
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
    return retryWhileUnavailable(patience, () => this.attempt(batch));
  }

  /**
   * Each attempt has new ids. If an attempt stored the messages and its answer was lost, the messages are not new to the next
   * attempt.
   */
  private async attempt(batch: readonly Arrived[]): Promise<readonly (NewEvent<'msgapp.received'> | undefined)[]> {
    const ours = await this.ownMessages(batch);
    const rows = batch.map((each) => this.rowOf(each, this.ids.next(), ours.get(each)));
    const { identified, received } = await this.received.receive(rows);
    for (const event of identified) this.events.publish(event);
    return received;
  }

  /** Returns the ids of our messages to which these messages refer, if they belong to the same account. */
  private async ownMessages(batch: readonly Arrived[]): Promise<ReadonlyMap<Arrived, string>> {
    const { channel } = this.settings;
    const references = new Set(batch.flatMap(({ message }) => referenceOf(message) ?? []));
    const ours = new Map<Arrived, string>();
    if (references.size === 0) return ours;
    const found = await this.outbox.byReference(channel, [...references]);
    for (const each of batch) {
      const places = found.filter(({ reference }) => reference === referenceOf(each.message));
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
    const file: ReceivedFile | undefined = media && { file: media.file, fileName: short(media.fileName) };
    const name = createHash('sha256')
      .update(JSON.stringify([sessionId, message.chat, message.id]))
      .digest('base64url');
    const arrived = { session, message };
    const origin =
      message.kind === 'reaction' ? NOT_REFERRED_TO : this.origins.seal(sessionId, id, message, quoteOf(message));
    return {
      id,
      name,
      accountId,
      sessionId,
      sender: this.sightingOf(arrived, at),
      receivedAt: at,
      file: file && this.vault.seal(sessionId, RECEIVED_FILE, id, JSON.stringify(file)),
      ...origin,
      event: (sender) => {
        const from = numberOf(message) ?? sender?.number;
        const data = dataOf(arrived, { id, contact: sender?.id, from, refersTo, at });
        return { type: 'msgapp.received', accountId, at, data };
      },
    };
  }

  /** Returns what a message says of its sender. Undefined if it says nothing by which the sender could be known again. */
  private sightingOf({ session, message }: Arrived, at: number): Sighting | undefined {
    const { accountId, channel, number: linked } = session;
    const [identity, number] = [identityOf(message), numberOf(message)];
    if (linked === undefined || (identity === undefined && number === undefined)) return undefined;
    const newId = contactIdOf(this.ids.next());
    return { accountId, channel, linked, identity, number, name: short(message.name), newId, at };
  }
}
