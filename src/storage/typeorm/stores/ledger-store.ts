import {
  HIGHEST_BALANCE,
  type LedgerEntry,
  type LedgerKind,
  type LedgerPosting,
  LedgerStore,
  MOST_FAULTS,
  type PostingAnswer,
  postedBefore,
} from '../../../billing/ledger-store.js';
import { Batcher, EachTurn } from '../../../common/batcher.js';
import type { HostTransaction } from '../../../common/host-transaction.js';
import type { Page, PageRequest } from '../../../common/page.js';
import type { Dialect } from '../dialects/dialect.js';
import type { Executor } from '../engine/executor.js';
import { type Operation, type Row, rowsOf, write } from '../engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../engine/rows.js';
import { readPage } from './read-page.js';

/** Balances and ledger in SQL. */
export class TypeormLedgerStore extends LedgerStore {
  /**
   * Waiting postings of one account share a transaction: separate ones would each occupy a connection while they wait for the
   * account's lock.
   */
  private readonly postings = new Batcher<LedgerPosting, PostingAnswer>({
    perform: (postings) => this.executor.write(() => postEntries(this.executor.dialect, postings)),
    keyOf: ({ accountId }) => accountId,
    concurrency: CONCURRENT_ACCOUNTS,
    maxItems: MAX_BATCH,
    gathering: new EachTurn(),
  });

  constructor(private readonly executor: Executor) {
    super();
  }

  override balance(accountId: string, host?: HostTransaction): Promise<number | undefined> {
    return this.executor.read(() => readBalance(accountId), host);
  }

  override post(posting: LedgerPosting, host?: HostTransaction): Promise<PostingAnswer> {
    if (host) return this.executor.write(() => postEntry(this.executor.dialect, posting), host);
    return this.postings.add(posting);
  }

  override entries(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>> {
    const filters = [{ sql: 'account_id = ?', params: [accountId] }];
    const listing = { table: 'messaging_ledger', columns: COLUMNS, moment: 'posted_at', filters, toItem: toEntry };
    return this.executor.browse(() => readPage(this.executor.dialect, listing, page));
  }

  override check(): Promise<readonly string[]> {
    return this.executor.read(() => checkBooks());
  }
}

/** How many accounts are posted to at a time, each on a connection of its own. */
const CONCURRENT_ACCOUNTS = 3;

/** The most postings of one transaction. */
const MAX_BATCH = 256;

const COLUMNS = 'id, account_id, kind, units, message_id, position, note, posted_at';

function* readBalance(accountId: string): Operation<number | undefined> {
  const [row] = yield* rowsOf('SELECT balance FROM messaging_account WHERE id = ?', accountId);
  return row && integerOf(row, 'balance');
}

/** Posts to one account, in the given order. */
function* postEntries(dialect: Dialect, postings: readonly LedgerPosting[]): Operation<readonly PostingAnswer[]> {
  for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  const answers: PostingAnswer[] = [];
  for (const posting of postings) answers.push(yield* postEntry(dialect, posting));
  return answers;
}

function* postEntry(dialect: Dialect, posting: LedgerPosting): Operation<PostingAnswer> {
  const { id, formerId = id, accountId, kind, units, note, at } = posting;
  // Lock the account first: a concurrent repetition of the posting waits here and then finds the first one.
  const [account] = yield* rowsOf(
    `SELECT a.balance, a.posted FROM messaging_account a WHERE a.id = ?${dialect.lock('a', 'wait', 'no key update')}`,
    accountId,
  );
  if (!account) return 'unknown';
  const posted = `SELECT ${COLUMNS} FROM messaging_ledger WHERE id IN (?, ?)`;
  // Without a lock: one on a line that does not exist would keep others from inserting lines near it.
  const before = postedBefore(posting, (yield* rowsOf(posted, id, formerId)).map(toEntry));
  if (before) return before;
  const refusal = refusalOf(units, integerOf(account, 'balance'), integerOf(account, 'posted'));
  const params = [id, accountId, kind, units, note ?? null, at];
  const sql = 'INSERT INTO messaging_ledger (id, account_id, kind, units, note, posted_at) VALUES (?, ?, ?, ?, ?, ?)';
  // The same id may be posted to another account, which is not locked here: only the primary key detects that.
  if (refusal || (yield* dialect.insertNew({ sql, params }, 'id')) === 0) {
    // A host's transaction may have a snapshot from before the posting that this one repeats.
    const now = yield* rowsOf(`${posted}${dialect.current}`, id, formerId);
    return postedBefore(posting, now.map(toEntry)) ?? refusal ?? 'taken';
  }
  yield* write(
    'UPDATE messaging_account SET balance = balance + ?, posted = posted + ? WHERE id = ?',
    units,
    units,
    accountId,
  );
  return 'posted';
}

function refusalOf(units: number, balance: number, posted: number): 'refused' | 'over' | undefined {
  if (balance + units < 0) return 'refused';
  return units > 0 && posted + units > HIGHEST_BALANCE ? 'over' : undefined;
}

function toEntry(row: Row): LedgerEntry {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    // Only this package writes the column, from values of this type.
    kind: textOf(row, 'kind') as LedgerKind,
    units: integerOf(row, 'units'),
    messageId: optionalText(row, 'message_id'),
    position: optionalInteger(row, 'position'),
    note: optionalText(row, 'note'),
    at: integerOf(row, 'posted_at'),
  };
}

/**
 * Queries for inconsistencies; the column `fault` is a sentence. No query repeats a check of another one, so that an error is
 * reported once: a message's refunds, for example, match its ledger because its recipients match both.
 */
const FAULTS = [
  `SELECT concat('Account ', a.id, ': the balance is ', a.balance, ', its entries make ', coalesce(sum(l.units), 0), '.') AS fault
    FROM messaging_account a LEFT JOIN messaging_ledger l ON l.account_id = a.id
    GROUP BY a.id, a.balance HAVING a.balance <> coalesce(sum(l.units), 0)`,
  `SELECT concat('Account ', id, ': the balance is negative, ', balance, '.') AS fault FROM messaging_account WHERE balance < 0`,
  `SELECT concat('Account ', l.account_id, ': it does not exist and has entries.') AS fault FROM messaging_ledger l
    WHERE NOT EXISTS (SELECT 1 FROM messaging_account a WHERE a.id = l.account_id) GROUP BY l.account_id`,
  `SELECT concat('Top-up ', id, ' of account ', account_id, ': its units are negative, ', units, '.') AS fault
    FROM messaging_ledger WHERE kind = 'topup' AND units < 0`,
  `SELECT concat('Charge ', l.id, ': there is no message ', coalesce(l.message_id, ''), '.') AS fault FROM messaging_ledger l
    WHERE l.kind = 'charge' AND NOT EXISTS (SELECT 1 FROM messaging_message m WHERE m.id = l.message_id)`,
  `SELECT concat('Charge ', l.id, ': ', l.units, ' units of account ', l.account_id, ' were booked for message ', m.id, ' of ',
      m.units, ' units of account ', m.account_id, '.') AS fault
    FROM messaging_ledger l JOIN messaging_message m ON m.id = l.message_id
    WHERE l.kind = 'charge' AND (l.units + m.units <> 0 OR l.account_id <> m.account_id)`,
  `SELECT concat('Message ', message_id, ': it was charged ', count(*), ' times.') AS fault FROM messaging_ledger
    WHERE kind = 'charge' AND message_id IS NOT NULL GROUP BY message_id HAVING count(*) > 1`,
  `SELECT concat('Message ', m.id, ': there is no charge.') AS fault FROM messaging_message m
    WHERE NOT EXISTS (SELECT 1 FROM messaging_ledger l WHERE l.id = m.id AND l.kind = 'charge')`,
  `SELECT concat('Message ', m.id, ': its units are ', m.units, ' and ', m.refunded_units, ' refunded, its recipients make ',
      coalesce(sum(r.units), 0), ' and ', coalesce(sum(r.refunded_units), 0), '.') AS fault
    FROM messaging_message m LEFT JOIN messaging_recipient r ON r.message_id = m.id
    GROUP BY m.id, m.units, m.refunded_units
    HAVING m.units <> coalesce(sum(r.units), 0) OR m.refunded_units <> coalesce(sum(r.refunded_units), 0)`,
  `SELECT concat('Message ', message_id, ': recipient ', position, ' is ', status, ', its units are ', units, ' and ',
      refunded_units, ' refunded.') AS fault
    FROM messaging_recipient
    WHERE units < 0 OR refunded_units <> CASE WHEN status = 'failed' THEN units ELSE 0 END`,
  `SELECT concat('Refund ', l.id, ': ', l.units, ' units went to account ', l.account_id, ', no recipient of message ',
      coalesce(l.message_id, ''), ' that failed there had as many.') AS fault
    FROM messaging_ledger l WHERE l.kind = 'refund' AND NOT EXISTS (
      SELECT 1 FROM messaging_recipient r JOIN messaging_message m ON m.id = r.message_id
      WHERE r.message_id = l.message_id AND r.position = l.position AND r.status = 'failed' AND r.units = l.units
        AND m.account_id = l.account_id)`,
  `SELECT concat('Message ', message_id, ': recipient ', position, ' was refunded ', count(*), ' times.') AS fault
    FROM messaging_ledger WHERE kind = 'refund' AND message_id IS NOT NULL AND position IS NOT NULL
    GROUP BY message_id, position HAVING count(*) > 1`,
  `SELECT concat('Message ', r.message_id, ': recipient ', r.position, ' failed and was not refunded.') AS fault
    FROM messaging_recipient r WHERE r.status = 'failed' AND r.units > 0
      AND NOT EXISTS (SELECT 1 FROM messaging_ledger l WHERE l.id = concat(r.message_id, ':', r.position) AND l.kind = 'refund')`,
];

/** Checks the consistency of balances, ledger and messages: see `LedgerStore.check`. */
function* checkBooks(): Operation<readonly string[]> {
  const faults: string[] = [];
  for (const sql of FAULTS) {
    if (faults.length >= MOST_FAULTS) break;
    const rows = yield* rowsOf(`${sql} LIMIT ?`, MOST_FAULTS - faults.length);
    faults.push(...rows.map(({ fault }) => String(fault)));
  }
  return faults;
}
