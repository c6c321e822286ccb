import { lowBalanceEvent } from '../events/account-events.js';
import type { TransactionPublisher } from '../events/event-recorder.js';
import type { NewEvent } from '../events/event-types.js';
import type { Dialect } from '../storage/dialect.js';
import { type Operation, rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, optionalInteger, textOf } from '../storage/engine/rows.js';
import { LOW_PUBLISHED, LOW_UNPUBLISHED } from '../storage/low-after.js';

/** See `AccountStore.setLowBalance`. */
export function* setLowBalance(id: string, threshold: number | undefined): Operation<boolean> {
  const set = (low: string, ...params: readonly unknown[]) =>
    write(`UPDATE messaging_account SET low = ${low}, low_below = ? WHERE id = ?`, ...params, threshold ?? null, id);
  if (threshold === undefined) return (yield* set('NULL')) > 0;
  const low = `CASE WHEN low = ${LOW_UNPUBLISHED} THEN low WHEN balance >= ? THEN NULL WHEN low IS NULL THEN ${LOW_UNPUBLISHED} ELSE low END`;
  return (yield* set(low, threshold)) > 0;
}

/**
 * Finds accounts whose low balance has not been published. They come in no order, because an order by id might read all
 * accounts.
 */
export function* findLow(limit: number): Operation<readonly string[]> {
  const sql = `SELECT a.id FROM messaging_account a WHERE a.low = ${LOW_UNPUBLISHED} LIMIT ?`;
  return (yield* rowsOf(sql, limit)).map((row) => textOf(row, 'id'));
}

/** Publishes `balance.low` for these accounts, except those that another transaction has locked. */
export function* publishLow(
  dialect: Dialect,
  ids: readonly string[],
  at: number,
  { publish }: TransactionPublisher,
): Operation<readonly NewEvent[]> {
  const columns = 'a.id, a.balance, a.low, a.low_below';
  const rows = yield* rowsOf(
    dialect.lockByIds('messaging_account', columns, 'skip', 'no key update'),
    JSON.stringify(ids),
  );
  const events = rows.flatMap((row) => {
    const threshold = optionalInteger(row, 'low_below');
    if (optionalInteger(row, 'low') !== LOW_UNPUBLISHED || threshold === undefined) return [];
    return [lowBalanceEvent({ accountId: textOf(row, 'id'), at }, integerOf(row, 'balance'), threshold)];
  });
  if (events.length === 0) return [];
  yield* write(
    `UPDATE messaging_account SET low = CASE WHEN balance < low_below THEN ${LOW_PUBLISHED} END WHERE id ${dialect.among()}`,
    JSON.stringify(events.map(({ accountId }) => accountId)),
  );
  for (const event of events) publish(event);
  return events;
}
