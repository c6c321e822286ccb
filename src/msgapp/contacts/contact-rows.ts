import type { NewEvent } from '../../events/event-types.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, optionalText, type RowShape, shapeOf, textOf } from '../../storage/engine/rows.js';
import { addressName, addressNames, type Contact, type ContactScope, type Sighting } from './contact.js';
import { ContactBook, type Identified, type StoredContact } from './contact-book.js';

export const CONTACT =
  'c.id, c.account_id, c.channel, c.linked, c.identity, c.number, c.name, c.merged_into, c.seen_at';
const SHAPE = shapeOf('id account_id channel linked identity number name merged_into', 'seen_at');
export const ADDRESSES = 'messaging_contact_address';
export const ADDRESS: RowShape = { name: 'id', contact_id: 'id' };

/** The people whom some sightings are about. */
export interface Met {
  /** The contact of each sighting, after all of them. Undefined: the person is no contact. */
  readonly contacts: readonly (Contact | undefined)[];
  readonly identified: readonly Identified[];
}

/**
 * Finds the contacts of sightings, makes those that are new, and joins those that turn out to be one person. Sightings that say
 * nothing new cost one query and lock nothing. Changes of the contacts of one linked number run one after another.
 */
export function* meetContacts(dialect: Dialect, sightings: readonly Sighting[]): Operation<Met> {
  if (sightings.length === 0) return { contacts: [], identified: [] };
  const known = yield* readBook(dialect, sightings);
  if (sightings.every((each) => known.knows(each)))
    return { contacts: sightings.map((each) => known.meet(each)), identified: [] };
  yield* lockScopes(dialect, sightings);
  const book = yield* readBook(dialect, sightings);
  const met = sightings.map((each) => book.meet(each)?.id);
  yield* writeBook(dialect, book);
  return { contacts: met.map((id) => book.find(id)), identified: book.identified };
}

/** Reads the contact with an id of an account, or the one into which it was merged. */
export function* findContact(accountId: string, id: string): Operation<Contact | undefined> {
  const sql = `SELECT ${CONTACT} FROM messaging_contact c WHERE c.id = ? AND c.account_id = ?`;
  let [row] = yield* rowsOf(sql, id, accountId);
  // A contact that others were merged into may have been merged itself.
  while (row && optionalText(row, 'merged_into') !== undefined) {
    [row] = yield* rowsOf(sql, textOf(row, 'merged_into'), accountId);
  }
  return row && toContact(row);
}

/** The event that the number of a contact is known. */
export function identifiedEvent({ contact, merged, at }: Identified): NewEvent<'contact.identified'> {
  const { id, accountId, channel, linked, number } = contact;
  return {
    type: 'contact.identified',
    accountId,
    at,
    data: { contact: id, channel, to: linked, number, merged: merged ?? null },
  };
}

function* readBook(dialect: Dialect, sightings: readonly Sighting[]): Operation<ContactBook> {
  const names = sightings.flatMap(addressNames);
  const rows = yield* rowsOf(
    `SELECT a.name AS address, ${CONTACT} FROM ${ADDRESSES} a
      JOIN messaging_contact c ON ${dialect.lookUp('c.id = a.contact_id')} WHERE a.name ${dialect.among()}`,
    JSON.stringify([...new Set(names)]),
  );
  return new ContactBook(rows.map(toContact), new Map(rows.map((row) => [textOf(row, 'address'), textOf(row, 'id')])));
}

/** Makes other changes of the contacts of these linked numbers wait until the end of the transaction. */
export function* lockScopes(dialect: Dialect, scopes: readonly ContactScope[]): Operation<void> {
  if (dialect.hasOneWriter) return;
  const names = [...new Set(scopes.map((each) => addressName(each, 'lock')))].sort();
  const sql = `SELECT a.name FROM ${ADDRESSES} a WHERE a.name ${dialect.among()} ORDER BY a.name${dialect.lock('a', 'wait')}`;
  const locked = yield* rowsOf(sql, JSON.stringify(names));
  if (locked.length === names.length) return;
  const rows = names.map((name) => [name, '']);
  yield dialect.insertRows({ table: ADDRESSES, shape: ADDRESS, rows, onDuplicate: ['name'] });
  yield* rowsOf(sql, JSON.stringify(names));
}

function* writeBook(dialect: Dialect, book: ContactBook): Operation<void> {
  const contacts = [...book.changed].sort().flatMap((id) => book.stored(id) ?? []);
  const changes = ['identity', 'number', 'name', 'merged_into', 'seen_at'];
  if (contacts.length > 0) {
    const rows = contacts.map(toRow);
    yield dialect.insertRows({ table: 'messaging_contact', shape: SHAPE, rows, onDuplicate: ['id', changes] });
  }
  const moved = [...book.moved].sort(([a], [b]) => (a < b ? -1 : 1));
  const given = moved.filter(([, owner]) => owner !== undefined);
  const taken = moved.flatMap(([name, owner]) => (owner === undefined ? [[name, '']] : []));
  if (given.length > 0)
    yield dialect.insertRows({ table: ADDRESSES, shape: ADDRESS, rows: given, onDuplicate: ['name', ['contact_id']] });
  if (taken.length > 0)
    yield dialect.deleteRows({ table: ADDRESSES, shape: ADDRESS, rows: taken, on: `${ADDRESSES}.name = v.name` });
}

function toRow(contact: StoredContact): readonly unknown[] {
  const { id, accountId, channel, linked, identity, number, name, mergedInto, seenAt } = contact;
  const described = mergedInto === undefined ? [identity ?? null, number ?? null, name ?? null] : [null, null, null];
  return [id, accountId, channel, linked, ...described, mergedInto ?? null, seenAt];
}

export function toContact(row: Row): StoredContact {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    linked: textOf(row, 'linked'),
    identity: optionalText(row, 'identity'),
    number: optionalText(row, 'number'),
    name: optionalText(row, 'name'),
    mergedInto: optionalText(row, 'merged_into'),
    seenAt: integerOf(row, 'seen_at'),
  };
}
