import type { HostTransaction } from '../../common/host-transaction.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { NewEvent } from '../../events/event-types.js';
import type { Database } from '../../storage/engine/database.js';
import { rowsOf } from '../../storage/engine/operation.js';
import { optionalText, textOf } from '../../storage/engine/rows.js';
import type { Contact, Sighting } from './contact.js';
import { namesOf, purgeContacts, removeContacts } from './contact-removal.js';
import { findContact, identifiedEvent, meetContacts } from './contact-rows.js';

/**
 * Persists the people who write to linked numbers. Every method is one transaction.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class ContactStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Notes what the app says of people. A contact whose number becomes known, or changes, gets the event `contact.identified` in the
   * account's log.
   * @returns the events
   */
  meet(sightings: readonly Sighting[]): Promise<readonly NewEvent<'contact.identified'>[]> {
    const { dialect } = this.database;
    return this.recorder.write(function* ({ publish }) {
      const { identified } = yield* meetContacts(dialect, sightings);
      const events = identified.map(identifiedEvent);
      events.forEach(publish);
      return events;
    });
  }

  /**
   * Returns a contact of an account. The id of a contact that was merged returns the one that stands for it. With `host`, the
   * host's open transaction reads it.
   */
  find(accountId: string, id: string, host?: HostTransaction): Promise<Contact | undefined> {
    return this.database.read(() => findContact(accountId, id), host);
  }

  /** Returns the ids of at most `limit` contacts that have a number, over all accounts. */
  async ofNumber(number: string, limit: number): Promise<readonly string[]> {
    const rows = await this.database.read(() =>
      rowsOf('SELECT c.id FROM messaging_contact c WHERE c.number = ? LIMIT ?', number, limit),
    );
    return rows.map((row) => textOf(row, 'id'));
  }

  /** Returns the id of a contact with those of the contacts that were merged into it. */
  async namesOf(id: string): Promise<readonly string[]> {
    return this.database.read(() => namesOf(id));
  }

  /** Returns the ids of a contact and of those that were merged into it, and its number if it is known. */
  async namesOfPerson(id: string): Promise<readonly string[]> {
    const rows = await this.database.read(() =>
      rowsOf('SELECT c.number, c.merged_into FROM messaging_contact c WHERE c.id = ?', id),
    );
    const known = rows.flatMap((row) =>
      [optionalText(row, 'number') ?? [], optionalText(row, 'merged_into') ?? []].flat(),
    );
    return [...(await this.namesOf(id)), ...known];
  }

  /** Removes a contact with its identity and number, and the contacts that were merged into it. */
  erase(id: string): Promise<number> {
    return this.database.write(() => removeContacts(this.database.dialect, [id]));
  }

  /**
   * Removes at most `limit` contacts who last wrote before a given time, and the contacts that were merged into them.
   * @param before milliseconds since the epoch
   * @returns how many were removed
   */
  purge(before: number, limit: number): Promise<number> {
    return this.database.write(() => purgeContacts(this.database.dialect, before, limit));
  }
}
