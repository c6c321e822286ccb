import type { HostTransaction } from '../../common/host-transaction.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { NewEvent } from '../../events/event-types.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';
import type { Contact, Sighting } from '../contacts/contact.js';
import { identifiedEvent, meetContacts } from '../contacts/contact-rows.js';

/** A stored message to a linked number. */
export interface StoredReceived {
  /** The id of its event. */
  readonly id: string;
  readonly accountId: string;
  readonly sessionId: string;
  /** The sender. Undefined if the app does not say who that is, or if the contact was erased. */
  readonly contactId: string | undefined;
  /** The number of the sender, if it was known when the message came. */
  readonly number: string | undefined;
  /** The data with which its file is fetched, encrypted. Undefined if there is no file. */
  readonly file: string | undefined;
  /** What the app calls the message, encrypted. Undefined for a reaction, and if it was erased. */
  readonly origin: string | undefined;
  /** The beginning of its text, encrypted. Undefined without a text, and if it was removed. */
  readonly quote: string | undefined;
}

/** A message to store. */
export interface NewReceived extends Omit<StoredReceived, 'contactId' | 'number'> {
  /** A name that a repeat of the message has too. At most 64 characters. */
  readonly name: string;
  /** Who wrote it, with the number if the app shows it. Undefined: the app says nothing of the sender. */
  readonly sender: Sighting | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Makes its event. `contact` is its sender. */
  readonly event: (contact: Contact | undefined) => NewEvent<'msgapp.received'>;
}

/** Removes from messages what leads to the person who wrote them. */
const ERASE =
  'UPDATE messaging_msgapp_received SET number = NULL, contact_id = NULL, file = NULL, origin = NULL, quote = NULL';

/** The events of stored messages. */
export interface ReceivedEvents {
  /** The senders whose number became known. */
  readonly identified: readonly NewEvent<'contact.identified'>[];
  /** The event of each message. Undefined for a repeat. */
  readonly received: readonly (NewEvent<'msgapp.received'> | undefined)[];
}

/**
 * Persists which messages linked numbers have received, so that each message is one event, and the data with which their files
 * are fetched. Every method is one transaction.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class ReceivedMessageStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Stores messages with their events in the accounts' logs, and their senders as contacts. It stores nothing for a repeat. A
   * sender's number becomes known before the message that says so.
   */
  receive(messages: readonly NewReceived[]): Promise<ReceivedEvents> {
    const { dialect } = this.database;
    return this.recorder.write(function* ({ publish }) {
      const known = messages.filter(({ sender }) => sender !== undefined);
      const met = yield* meetContacts(
        dialect,
        known.flatMap(({ sender }) => sender ?? []),
      );
      const contacts = new Map(known.map((message, index) => [message, met.contacts[index]]));
      const isNew = yield* addMessages(dialect, messages, contacts);
      const identified = met.identified.map(identifiedEvent);
      identified.forEach(publish);
      const received = messages.map((each, index) => (isNew[index] ? each.event(contacts.get(each)) : undefined));
      for (const event of received) if (event) publish(event);
      return { identified, received };
    });
  }

  /** Returns a message. With `host`, the host's open transaction reads it. */
  async find(id: string, host?: HostTransaction): Promise<StoredReceived | undefined> {
    const columns = 'm.id, m.account_id, m.session_id, m.contact_id, m.number, m.file, m.origin, m.quote';
    const sql = `SELECT ${columns} FROM messaging_msgapp_received m WHERE m.id = ?`;
    const [row] = await this.database.read(() => rowsOf(sql, id), host);
    return (
      row && {
        id: textOf(row, 'id'),
        accountId: textOf(row, 'account_id'),
        sessionId: textOf(row, 'session_id'),
        contactId: optionalText(row, 'contact_id'),
        number: optionalText(row, 'number'),
        file: optionalText(row, 'file'),
        origin: optionalText(row, 'origin'),
        quote: optionalText(row, 'quote'),
      }
    );
  }

  /**
   * Removes the number and the data of files from all messages that a contact wrote.
   * @returns from how many messages they were removed
   */
  eraseContact(contactId: string): Promise<number> {
    return this.database.write(() => write(`${ERASE} WHERE contact_id = ?`, contactId));
  }

  /**
   * Removes the number and the data of files from at most `limit` messages that a number wrote.
   * @returns from how many messages they were removed
   */
  erase(number: string, limit: number): Promise<number> {
    return this.database.write(() => eraseNumber(this.database.dialect, number, limit));
  }

  /**
   * Removes the texts that answers would quote, of at most `limit` messages from before a moment that are after a place.
   * @param after the `next` of the last call. Undefined: from the oldest message on
   * @returns how many messages were read, and the place of the last of them
   */
  purgeQuotes(
    before: number,
    limit: number,
    after?: QuotePlace,
  ): Promise<{ readonly read: number; readonly next: QuotePlace | undefined }> {
    return this.database.write(() => removeQuotes(this.database.dialect, before, limit, after));
  }

  /**
   * Removes at most `limit` messages from before a moment, in milliseconds since the epoch.
   * @returns how many were removed
   */
  purge(before: number, limit: number): Promise<number> {
    return this.database.write(() =>
      write(this.database.dialect.deleteFirst('messaging_msgapp_received', 'name', 'received_at'), before - 1, limit),
    );
  }
}

/** A place in the order in which messages came. */
export interface QuotePlace {
  readonly at: number;
  readonly name: string;
}

function* removeQuotes(
  dialect: Dialect,
  before: number,
  limit: number,
  after: QuotePlace = { at: -1, name: '' },
): Operation<{ readonly read: number; readonly next: QuotePlace | undefined }> {
  const rows = yield* rowsOf(
    `SELECT m.name, m.received_at FROM messaging_msgapp_received m
      WHERE m.received_at < ? AND m.received_at >= ? AND (m.received_at > ? OR m.name > ?) ORDER BY m.received_at, m.name LIMIT ?`,
    before,
    after.at,
    after.at,
    after.name,
    limit,
  );
  const last = rows.at(-1);
  if (!last) return { read: 0, next: after };
  yield {
    sql: `UPDATE messaging_msgapp_received SET quote = NULL WHERE name ${dialect.among()} AND quote IS NOT NULL`,
    params: [JSON.stringify(rows.map((row) => textOf(row, 'name')))],
  };
  return { read: rows.length, next: { at: integerOf(last, 'received_at'), name: textOf(last, 'name') } };
}

const MESSAGE = shapeOf('name id account_id session_id contact_id number file origin quote', 'received_at');

/** Returns for each message whether its name is new. */
function* addMessages(
  dialect: Dialect,
  messages: readonly NewReceived[],
  contacts: ReadonlyMap<NewReceived, Contact | undefined>,
): Operation<readonly boolean[]> {
  // The first message with a name wins. The rows are sorted, so that two transactions with the same messages cannot deadlock.
  const rows = [...new Map(messages.toReversed().map((message) => [message.name, message])).values()]
    .map((each) => [
      each.name,
      each.id,
      each.accountId,
      each.sessionId,
      contacts.get(each)?.id ?? null,
      each.sender?.number ?? contacts.get(each)?.number ?? null,
      each.file ?? null,
      each.origin ?? null,
      each.quote ?? null,
      each.receivedAt,
    ])
    .sort();
  yield dialect.insertRows({ table: 'messaging_msgapp_received', shape: MESSAGE, rows, onDuplicate: ['name'] });
  const stored = yield* rowsOf(
    `SELECT m.name, m.id FROM messaging_msgapp_received m WHERE m.name ${dialect.among()}`,
    JSON.stringify(rows.map(([name]) => name)),
  );
  const idOfName = new Map(stored.map((row) => [textOf(row, 'name'), textOf(row, 'id')]));
  return messages.map(({ id, name }) => idOfName.get(name) === id);
}

function* eraseNumber(dialect: Dialect, number: string, limit: number): Operation<number> {
  const found = yield* rowsOf(
    'SELECT m.name FROM messaging_msgapp_received m WHERE m.number = ? ORDER BY m.name LIMIT ?',
    number,
    limit,
  );
  if (found.length === 0) return 0;
  return yield* write(
    `${ERASE} WHERE name ${dialect.among()}`,
    JSON.stringify(found.map((row) => textOf(row, 'name'))),
  );
}
