import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, type Statement, write } from '../../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../../storage/engine/rows.js';
import type { Gaps } from '../policy/policy-records.js';
import { dayOf, isCapped, type KeySpending, spendingId } from './decide.js';
import type { Send } from './send.js';

const SPENDING_KEY = 'family, day';
const KEY_SPENDING = { table: 'messaging_key_spending', shape: shapeOf('family', 'day units') };

/**
 * Reads the units that the families of capped sends have spent on the days of the sends, by `spendingId`. The rows need
 * no lock, because a family belongs to one account, and the caller has locked the account's row.
 *
 * @param gaps `leave`: for a host's transaction, whose plain reads may be older than the lock on the account. Missing
 *   rows are inserted first, so that the current read finds them and locks no gap
 */
export function* readKeySpending(
  dialect: Dialect,
  sends: readonly Send[],
  gaps: Gaps,
): Operation<ReadonlyMap<string, KeySpending>> {
  const capped = sends.filter(isCapped);
  if (capped.length === 0) return new Map();
  const wanted = new Map(
    capped.map(({ key: { family }, at }) => {
      const day = dayOf(at);
      return [spendingId({ family, day }), { family, day, units: 0 }];
    }),
  );
  if (gaps === 'leave')
    yield dialect.insertRows({ ...KEY_SPENDING, rows: rowsOfSpending(wanted), onDuplicate: [SPENDING_KEY] });
  const source = dialect.rows(shapeOf('family', 'day'));
  const rows = yield* rowsOf(
    `SELECT u.family, u.day, u.units FROM ${source} ${dialect.thenJoin} messaging_key_spending u${dialect.by('primary key')}
      ON ${dialect.lookUp('u.family = v.family AND u.day = v.day')}${dialect.current}`,
    JSON.stringify([...wanted.values()].map(({ family, day }) => [family, day])),
  );
  return new Map(rows.map(toSpending).map((spent) => [spendingId(spent), spent]));
}

/** The statement that writes the units that families have spent; none if no key has a cap. */
export function writeKeySpending(dialect: Dialect, spending: ReadonlyMap<string, KeySpending>): Statement[] {
  if (spending.size === 0) return [];
  return [
    dialect.insertRows({ ...KEY_SPENDING, rows: rowsOfSpending(spending), onDuplicate: [SPENDING_KEY, ['units']] }),
  ];
}

/** Reads the units that families have spent on a day, by family. */
export function* findKeySpending(
  dialect: Dialect,
  families: readonly string[],
  day: number,
): Operation<ReadonlyMap<string, number>> {
  const rows = yield* rowsOf(
    `SELECT family, day, units FROM messaging_key_spending WHERE day = ? AND family ${dialect.among()}`,
    day,
    JSON.stringify(families),
  );
  return new Map(rows.map(toSpending).map(({ family, units }) => [family, units]));
}

/** Deletes the units that were spent up to a day, the oldest first. */
export function purgeKeySpending(dialect: Dialect, until: number, limit: number): Operation<number> {
  return write(dialect.deleteFirst('messaging_key_spending', SPENDING_KEY, 'day'), until, limit);
}

function rowsOfSpending(spending: ReadonlyMap<string, KeySpending>): (string | number)[][] {
  return [...spending.values()].map(({ family, day, units }) => [family, day, units]);
}

function toSpending(row: Row): KeySpending {
  return { family: textOf(row, 'family'), day: integerOf(row, 'day'), units: integerOf(row, 'units') };
}
