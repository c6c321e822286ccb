import {
  type LedgerEntry,
  type LedgerKind,
  type LedgerPosting,
  LedgerStore,
  type PostingAnswer,
} from '../../billing/ledger-store.js';
import { postedBefore } from '../../billing/posting-id.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page, PageRequest } from '../../common/page.js';
import { checkBooks } from './check-operation.js';
import type { Dialect } from './dialect.js';
import type { Executor } from './executor.js';
import { type Operation, type Row, rowsOf, write } from './operation.js';
import { readPage } from './read-page.js';
import { integerOf, optionalInteger, optionalText, textOf } from './values.js';

/** Balances and ledger in SQL. */
export class TypeormLedgerStore extends LedgerStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override balance(accountId: string, host?: HostTransaction): Promise<number | undefined> {
    return this.executor.read(() => readBalance(accountId), host);
  }

  override post(posting: LedgerPosting, host?: HostTransaction): Promise<PostingAnswer> {
    return this.executor.write(() => postEntry(this.executor.dialect, posting), host);
  }

  override entries(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>> {
    const filters = [{ sql: 'account_id = ?', params: [accountId] }];
    const listing = { table: 'messaging_ledger', columns: COLUMNS, moment: 'posted_at', filters, toItem: toEntry };
    return this.executor.read(() => readPage(this.executor.dialect, listing, page));
  }

  override check(): Promise<readonly string[]> {
    return this.executor.read(() => checkBooks());
  }
}

const COLUMNS = 'id, account_id, kind, units, message_id, position, note, posted_at';

function* readBalance(accountId: string): Operation<number | undefined> {
  const [row] = yield* rowsOf('SELECT balance FROM messaging_account WHERE id = ?', accountId);
  return row && integerOf(row, 'balance');
}

function* postEntry(dialect: Dialect, posting: LedgerPosting): Operation<PostingAnswer> {
  const { id, formerId = id, accountId, kind, units, note, at } = posting;
  // The account's lock comes first, so that a posting repeated at the same time waits here and then finds the first one.
  const [account] = yield* rowsOf(
    `SELECT a.balance FROM messaging_account a WHERE a.id = ?${dialect.lock('a', 'wait', 'no key update')}`,
    accountId,
  );
  if (!account) return 'unknown';
  const posted = `SELECT ${COLUMNS} FROM messaging_ledger WHERE id IN (?, ?)${dialect.current}`;
  const before = yield* rowsOf(posted, id, formerId);
  const answer = postedBefore(posting, before.map(toEntry));
  if (answer) return answer;
  if (integerOf(account, 'balance') + units < 0) return 'refused';
  const params = [id, accountId, kind, units, note ?? null, at];
  const sql = 'INSERT INTO messaging_ledger (id, account_id, kind, units, note, posted_at) VALUES (?, ?, ?, ?, ?, ?)';
  // Another account's lock is not ours: only the key tells that somebody has just posted this id there.
  if ((yield* dialect.insertNew({ sql, params }, 'id')) === 0) return 'taken';
  yield* write('UPDATE messaging_account SET balance = balance + ? WHERE id = ?', units, accountId);
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
