import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { asTheyAre, shapeOf } from '../../storage/engine/rows.js';
import { lowAfterCredit } from '../../storage/low-after.js';

/** A recipient whose units are refunded. */
interface Refunded {
  readonly messageId: string;
  readonly position: number;
  readonly message: { readonly accountId: string };
  readonly refund: number;
  readonly at: number;
}

/** Locks the accounts of refunds in the order of their ids. An update of many rows does not guarantee an order. */
export function* lockAccounts(dialect: Dialect, rows: readonly Refunded[]): Operation<void> {
  if (rows.length === 0) return;
  const ids = [...new Set(rows.map(({ message }) => message.accountId))].sort();
  yield* rowsOf(dialect.lockByIds('messaging_account', 'a.id', 'wait', 'no key update'), JSON.stringify(ids));
}

const REFUND = shapeOf('id account_id message_id', 'units position posted_at');

/**
 * The statements that refund units to accounts. A recipient is refunded only once, because the id of the ledger entry
 * is made from the recipient.
 */
export function refunds(dialect: Dialect, rows: readonly Refunded[]): Statement[] {
  return [
    dialect.insertRows({
      table: 'messaging_ledger',
      values: { ...asTheyAre(REFUND), kind: "'refund'" },
      shape: REFUND,
      rows: rows.map(({ messageId, message, refund, position, at }) => {
        return [`${messageId}:${position}`, message.accountId, messageId, refund, position, at];
      }),
    }),
    dialect.updateRows({
      table: 'messaging_account',
      set: { low: lowAfterCredit('v.units'), balance: 'balance + v.units' },
      shape: { id: 'id', units: 'integer' },
      rows: sums(rows, ({ message }) => message.accountId),
      on: 'messaging_account.id = v.id',
    }),
  ];
}

/** The refunded units of each message. */
export function refundsOfMessages(rows: readonly Refunded[]): ReadonlyMap<string, number> {
  return new Map(sums(rows, ({ messageId }) => messageId));
}

/** Sums refunds by a key. The sums are sorted by the key, because all transactions lock rows in that order. */
function sums(rows: readonly Refunded[], key: (row: Refunded) => string): [string, number][] {
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(key(row), (totals.get(key(row)) ?? 0) + row.refund);
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1));
}
