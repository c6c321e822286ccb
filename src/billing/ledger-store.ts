import { recordAudit } from '../accounts/audit/audit.js';
import { HOST } from '../accounts/audit/audit-entry.js';
import { findLow, publishLow } from '../accounts/low-balance.js';
import { findReply, keepReply } from '../accounts/replies.js';
import { Batcher, EachTurn } from '../common/concurrency/batcher.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { Page } from '../common/listing/page.js';
import { EventRecorder, type TransactionPublisher } from '../events/event-recorder.js';
import type { NewEvent } from '../events/event-types.js';
import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { RecordMovedError } from '../storage/engine/faults.js';
import { type Operation, type Row, rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../storage/engine/rows.js';
import { lowAfterCredit, lowAfterDebit } from '../storage/low-after.js';
import { bytesWith, type Listing, readPage } from '../storage/read-page.js';
import { LedgerKind } from './ledger.api.js';
import { checkBooks } from './ledger-check.js';
import {
  AnsweredPosting,
  eventOf,
  LedgerCheck,
  LedgerEntry,
  LedgerPosting,
  LedgerQuery,
  MAX_BALANCE,
  PostingAnswer,
  PostingReply,
  postedBefore,
  shownId,
} from './ledger-entry.js';

/** Persists balances and the ledger. The outbox's store writes charges and refunds in its own transactions. */
export class LedgerStore {
  /**
   * Waiting postings of one account share a transaction. In separate transactions, each would occupy a connection while
   * it waits for the account's lock.
   */
  private readonly postings = new Batcher<LedgerPosting, PostingAnswer>({
    perform: (postings) => this.recorder.write((publisher) => postEntries(this.database.dialect, postings, publisher)),
    keyOf: ({ accountId }) => accountId,
    concurrency: CONCURRENT_ACCOUNTS,
    maxItems: MAX_BATCH,
    gathering: new EachTurn(),
  });

  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * The remaining units; undefined for an unknown account. With `host`, they are read in the host's open transaction.
   */
  balance(accountId: string, host?: HostTransaction): Promise<number | undefined> {
    return this.database.read(() => readBalance(accountId), host);
  }

  /**
   * Adds an entry and changes the balance in one transaction: the store's own, or with `host` the host's open one. If
   * an entry with the same id is stored, `postedBefore` decides whether the result is `repeated` or `taken`. Nothing is
   * written unless the result is `posted`. The transaction also records the event (`eventOf`) and an entry of the audit
   * log.
   */
  post(posting: LedgerPosting, host?: HostTransaction): Promise<PostingAnswer> {
    if (host) return this.recorder.write((publisher) => postEntry(this.database.dialect, posting, publisher), host);
    return this.postings.add(posting);
  }

  /**
   * Posts as `post` does, and stores the reply under an Idempotency-Key. The earlier reply is read and the new one
   * stored in the transaction of the posting, after the account was locked. If there is an earlier reply, nothing is
   * posted. The route of the key must name the account.
   *
   * @throws MessagingError `error.idempotency_mismatch` if the earlier reply belongs to another body
   */
  postOnce(posting: LedgerPosting, reply: PostingReply): Promise<AnsweredPosting> {
    return this.recorder.write((publisher) => postAnswered(this.database.dialect, posting, reply, publisher));
  }

  /**
   * Finds accounts whose balance has fallen below their threshold, and records `balance.low` for each. It is recorded
   * once until the balance has been at the threshold or above it again. Every transaction that debits also marks the
   * account, so no fall is missed.
   *
   * @param at milliseconds since the epoch
   * @param limit the most accounts
   * @returns the events
   */
  async publishLow(at: number, limit: number): Promise<readonly NewEvent[]> {
    const ids = await this.database.read(() => findLow(limit));
    if (ids.length === 0) return [];
    return this.recorder.write((publisher) => publishLow(this.database.dialect, ids, at, publisher));
  }

  /**
   * Lists an account's entries with their stored ids, newest first; `after` is the id of the last entry of the previous
   * page.
   * @throws MessagingError `error.invalid_cursor` if `after` is not an entry of the account
   */
  entries(accountId: string, { kind, since, until, ...page }: LedgerQuery): Promise<Page<LedgerEntry>> {
    const filters = [{ sql: 'account_id = ?', params: [accountId] }];
    const shown = [
      ...(kind === undefined ? [] : [{ sql: KIND_IS[kind], params: [] }]),
      ...(since === undefined ? [] : [{ sql: 'posted_at >= ?', params: [since] }]),
      ...(until === undefined ? [] : [{ sql: 'posted_at < ?', params: [until] }]),
    ];
    const index = kind === undefined || kind === 'charge' ? 'messaging_ledger_account' : 'messaging_ledger_kind';
    const listing: Listing<LedgerEntry> = {
      table: 'messaging_ledger',
      index,
      columns: COLUMNS,
      bytes: bytesWith('note'),
      moment: 'posted_at',
      filters,
      shown,
      toItem: toEntry,
    };
    return this.database.browse(() => readPage(this.database.dialect, listing, page), accountId);
  }

  /**
   * Checks the books over all accounts:
   *
   * - Each balance is the sum of its entries, and each entry's account exists.
   * - Each charge has its message, and each message has exactly one charge, of its units, on its account.
   * - Each refund belongs to a failed recipient. Each failed recipient that cost units has exactly one refund: of the same
   *   units, on the account of the message.
   * - The charged and refunded units of a message are the sums over its recipients, and only failed recipients are refunded.
   * - No balance, top-up or recipient has negative units.
   *
   * The check reads the books in chunks and makes no other transaction wait. Sends, refunds and postings may continue
   * meanwhile and are not reported as faults.
   *
   * @returns one sentence for each fault, with the id of the message or else of the account. A fault that follows from
   *   another one is left out. At most `MAX_FAULTS` sentences; empty if the books are correct
   * @throws MessagingError `error.invalid_cursor` if `after` is not a place of a check
   */
  check(options: LedgerCheck = {}): Promise<readonly string[]> {
    return checkBooks(this.database, options);
  }
}

/** How many accounts are posted to at a time, each on a connection of its own. */
const CONCURRENT_ACCOUNTS = 3;

/** The maximum number of postings in one transaction. */
const MAX_BATCH = 256;

const COLUMNS = 'id, account_id, kind, units, message_id, position, note, posted_at';

/**
 * Conditions on the kind. They repeat the condition of the partial index `messaging_ledger_kind` and have no
 * parameters, so that the planner sees that the index applies.
 */
const KIND_IS: Readonly<Record<LedgerKind, string>> = {
  charge: "kind = 'charge'",
  refund: "kind <> 'charge' AND kind = 'refund'",
  topup: "kind <> 'charge' AND kind = 'topup'",
  adjust: "kind <> 'charge' AND kind = 'adjust'",
};

function* readBalance(accountId: string): Operation<number | undefined> {
  const [row] = yield* rowsOf('SELECT balance FROM messaging_account WHERE id = ?', accountId);
  return row && integerOf(row, 'balance');
}

/** Posts to one account, in the given order. */
function* postEntries(
  dialect: Dialect,
  postings: readonly LedgerPosting[],
  publisher: TransactionPublisher,
): Operation<readonly PostingAnswer[]> {
  for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  const answers: PostingAnswer[] = [];
  for (const posting of postings) answers.push(yield* postEntry(dialect, posting, publisher));
  return answers;
}

function* postEntry(
  dialect: Dialect,
  posting: LedgerPosting,
  { publish }: TransactionPublisher,
): Operation<PostingAnswer> {
  const { id, accountId, kind, units, note, at, by = HOST } = posting;
  // The account is locked first. A concurrent repeat of the posting waits here and then finds the first one.
  const [account] = yield* rowsOf(
    `SELECT a.balance, a.posted FROM messaging_account a WHERE a.id = ?${dialect.lock('a', 'wait', 'no key update')}`,
    accountId,
  );
  if (!account) return 'unknown';
  // This reads without a lock. A lock on a row that does not exist would keep others from inserting rows near it.
  const before = postedBefore(posting, yield* findEntry(id));
  if (before) return before;
  const refusal = refusalOf(units, integerOf(account, 'balance'), integerOf(account, 'posted'));
  const params = [id, accountId, kind, units, note ?? null, at];
  const sql = 'INSERT INTO messaging_ledger (id, account_id, kind, units, note, posted_at) VALUES (?, ?, ?, ?, ?, ?)';
  // A concurrent transaction may post the same id to another account, which is not locked here. Only the primary key
  // detects that.
  if (refusal || (yield* dialect.insertNew({ sql, params }, 'id')) === 0) {
    // The snapshot of a host's transaction may be older than the posting that this one repeats, so the current row is
    // read.
    return postedBefore(posting, yield* findEntry(id, dialect.current)) ?? refusal ?? 'taken';
  }
  yield* write(
    `UPDATE messaging_account SET low = ${units > 0 ? lowAfterCredit('?') : lowAfterDebit('?')}, balance = balance + ?, posted = posted + ? WHERE id = ?`,
    Math.abs(units),
    units,
    units,
    accountId,
  );
  const balance = integerOf(account, 'balance');
  yield* recordAudit({
    accountId,
    at,
    by,
    action: kind === 'topup' ? 'balance.topped_up' : 'balance.adjusted',
    target: shownId(posting),
    before: { balance },
    after: { balance: balance + units, units },
  });
  publish(eventOf(posting));
  return 'posted';
}

/** @param current see `Dialect.current` */
function* findEntry(id: string, current = ''): Operation<LedgerEntry | undefined> {
  const [row] = yield* rowsOf(`SELECT ${COLUMNS} FROM messaging_ledger WHERE id = ?${current}`, id);
  return row && toEntry(row);
}

/** See `LedgerStore.postOnce`. */
function* postAnswered(
  dialect: Dialect,
  posting: LedgerPosting,
  { once, replyOf }: PostingReply,
  publisher: TransactionPublisher,
): Operation<AnsweredPosting> {
  for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  const { id, accountId, at } = posting;
  // The lock also makes concurrent requests under one Idempotency-Key wait for each other.
  yield* rowsOf(
    `SELECT a.id FROM messaging_account a WHERE a.id = ?${dialect.lock('a', 'wait', 'no key update')}`,
    accountId,
  );
  const earlier = once && (yield* findReply(once, at));
  if (earlier) {
    if (earlier.fingerprint !== once.fingerprint) throw new MessagingError('error.idempotency_mismatch');
    return { answer: 'repeated', accepted: { reply: earlier.reply, replayed: true } };
  }
  const answer = yield* postEntry(dialect, posting, publisher);
  if (answer !== 'posted' && answer !== 'repeated') return { answer, accepted: undefined };
  const entry = yield* findEntry(id);
  const balance = yield* readBalance(accountId);
  if (!entry || balance === undefined) throw new Error('The posting is not in the ledger.');
  const reply = replyOf(balance, entry);
  if (once && (yield* keepReply(dialect, once, reply, at)))
    throw new RecordMovedError('A reply exists under this key.');
  return { answer, accepted: { reply, replayed: false } };
}

function refusalOf(units: number, balance: number, posted: number): 'refused' | 'over' | undefined {
  if (balance + units < 0) return 'refused';
  return units > 0 && posted + units > MAX_BALANCE ? 'over' : undefined;
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
