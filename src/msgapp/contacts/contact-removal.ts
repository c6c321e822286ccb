import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { textOf } from '../../storage/engine/rows.js';
import { addressNames } from './contact.js';
import { ADDRESS, ADDRESSES, CONTACT, lockScopes, toContact } from './contact-rows.js';

/** See `ContactStore.namesOf`. */
export function* namesOf(id: string): Operation<readonly string[]> {
  const names = [id];
  for (let at = 0; at < names.length; at++) {
    const rows = yield* rowsOf('SELECT c.id FROM messaging_contact c WHERE c.merged_into = ?', names[at]);
    names.push(...rows.map((row) => textOf(row, 'id')));
  }
  return names;
}

/**
 * Removes contacts, their addresses, and the contacts that were merged into them.
 * @param before spares people who have written since that time, milliseconds since the epoch
 * @returns how many contacts were removed
 */
export function* removeContacts(
  dialect: Dialect,
  ids: readonly string[],
  before = Number.POSITIVE_INFINITY,
): Operation<number> {
  if (ids.length === 0) return 0;
  const sql = `SELECT ${CONTACT} FROM messaging_contact c WHERE c.id ${dialect.among()}`;
  const read = (): Operation<readonly Row[]> => rowsOf(sql, JSON.stringify(ids));
  yield* lockScopes(dialect, (yield* read()).map(toContact));
  // Another transaction may have changed them before the lock.
  const contacts = (yield* read()).map(toContact).filter(({ seenAt }) => seenAt < before);
  const addresses = contacts.flatMap(addressNames);
  const names: string[] = [];
  for (const { id } of contacts) names.push(...(yield* namesOf(id)));
  if (addresses.length > 0) {
    const rows = addresses.sort().map((name) => [name, '']);
    yield dialect.deleteRows({ table: ADDRESSES, shape: ADDRESS, rows, on: `${ADDRESSES}.name = v.name` });
  }
  const rows = [...new Set(names)].sort().map((id) => [id]);
  if (rows.length === 0) return 0;
  const removed = yield dialect.deleteRows({
    table: 'messaging_contact',
    shape: { id: 'id' },
    rows,
    on: 'messaging_contact.id = v.id',
  });
  return removed.affected;
}

/** See `ContactStore.purge`. A merged contact goes with the one that stands for it. */
export function* purgeContacts(dialect: Dialect, before: number, limit: number): Operation<number> {
  const rows = yield* rowsOf(
    'SELECT c.id FROM messaging_contact c WHERE c.seen_at < ? AND c.merged_into IS NULL ORDER BY c.seen_at LIMIT ?',
    before,
    limit,
  );
  return yield* removeContacts(
    dialect,
    rows.map((row) => textOf(row, 'id')),
    before,
  );
}
