import { type LedgerEntry, type LedgerKind, type LedgerPosting, LedgerStore } from '../../billing/ledger-store.js';
import type { Page, PageRequest } from '../../common/page.js';
import { checkBooks } from './check-operation.js';
import type { Dialect } from './dialect.js';
import type { Executor } from './executor.js';
import { type Operation, type Row, rowsOf, write } from './operation.js';
import { pageOf } from './page-of.js';
import { integerOf, optionalInteger, optionalText, textOf } from './values.js';

/** Balances and ledger in SQL. */
export class TypeormLedgerStore extends LedgerStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override balance(accountId: string): Promise<number | undefined> {
    return this.executor.read(function* (): Operation<number | undefined> {
      const [row] = yield* rowsOf('SELECT balance FROM messaging_account WHERE id = ?', accountId);
      return row && integerOf(row, 'balance');
    });
  }

  override post(posting: LedgerPosting): Promise<'posted' | 'repeated' | 'refused' | 'unknown'> {
    return this.executor.write(() => postEntry(this.executor.dialect, posting));
  }

  override entries(accountId: string, { limit, after }: PageRequest): Promise<Page<LedgerEntry>> {
    const { dialect } = this.executor;
    return this.executor.read(function* (): Operation<Page<LedgerEntry>> {
      const from = after === undefined ? undefined : yield* dialect.olderThan('messaging_ledger', 'posted_at', after);
      const rows = yield* rowsOf(
        `SELECT id, account_id, kind, units, message_id, position, note, posted_at FROM messaging_ledger
          WHERE account_id = ? ${from ? `AND ${from.sql}` : ''} ORDER BY posted_at DESC, id DESC LIMIT ?`,
        ...[accountId, ...(from?.params ?? []), limit + 1],
      );
      return pageOf(rows.map(toEntry), limit);
    });
  }

  override check(): Promise<readonly string[]> {
    return this.executor.read(() => checkBooks());
  }
}

function* postEntry(
  dialect: Dialect,
  { id, accountId, kind, units, note, at }: LedgerPosting,
): Operation<'posted' | 'repeated' | 'refused' | 'unknown'> {
  // The account's lock comes first, so that a posting repeated at the same time waits here and then finds the first one.
  const [account] = yield* rowsOf(
    `SELECT a.balance FROM messaging_account a WHERE a.id = ?${dialect.lock('a', 'wait', 'no key update')}`,
    accountId,
  );
  const repeated = yield* rowsOf('SELECT id FROM messaging_ledger WHERE id = ?', id);
  if (repeated.length > 0) return 'repeated';
  if (!account) return 'unknown';
  const moved = yield* write(
    'UPDATE messaging_account SET balance = balance + ? WHERE id = ? AND balance + ? >= 0',
    ...[units, accountId, units],
  );
  if (moved === 0) return 'refused';
  yield* write(
    'INSERT INTO messaging_ledger (id, account_id, kind, units, note, posted_at) VALUES (?, ?, ?, ?, ?, ?)',
    ...[id, accountId, kind, units, note ?? null, at],
  );
  return 'posted';
}

function toEntry(row: Row): LedgerEntry {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    // Written by this package only, from that very type.
    kind: textOf(row, 'kind') as LedgerKind,
    units: integerOf(row, 'units'),
    messageId: optionalText(row, 'message_id'),
    position: optionalInteger(row, 'position'),
    note: optionalText(row, 'note'),
    at: integerOf(row, 'posted_at'),
  };
}
