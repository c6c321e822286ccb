import { findReplies } from '../../accounts/replies.js';
import type { Dialect, IfLocked } from '../../storage/dialect.js';
import { RecordMovedError } from '../../storage/engine/faults.js';
import { type Operation, rowsOf, type Statement, writeAll } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import { lowAfterDebit } from '../../storage/low-after.js';
import type { CommitOutcome, WaitFor } from '../outbox-records.js';
import { type Gaps, lockRecords, writeRecords } from '../policy/policy-records.js';
import { type Decide, isCapped } from './decide.js';
import { readKeySpending, writeKeySpending } from './key-spending.js';
import type { LaneTurns } from './lane-turns.js';
import type { Send } from './send.js';
import { insertNewReplies, insertSends } from './send-inserts.js';
import { checkSteps } from './send-step.js';

/**
 * Locks, reads, decides and writes, in a transaction that the caller opens and commits. See `OutboxStore.commit`, and
 * `Gaps` for `gaps`.
 */
export function* acceptSends(
  dialect: Dialect,
  sends: readonly Send[],
  decide: Decide,
  waitFor: WaitFor,
  turns: LaneTurns,
  gaps: Gaps = 'lock',
): Operation<readonly CommitOutcome[]> {
  const ifAccountLocked: IfLocked = waitFor === 'none' ? 'skip' : 'wait';
  const ifRecordLocked: IfLocked = waitFor === 'all' ? 'wait' : 'skip';
  if (ifAccountLocked === 'wait') for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  const balances = yield* lockAccounts(dialect, sends, ifAccountLocked);
  const heldAccounts =
    ifAccountLocked === 'skip' ? yield* findHeldAccounts(dialect, sends, balances) : new Set<string>();
  const locked = heldAccounts.size === 0 ? sends : sends.filter(({ accountId }) => !heldAccounts.has(accountId));
  const replies = yield* findReplies(dialect, locked, gaps);
  const keys = locked.flatMap(({ policy }) => policy?.keys ?? []);
  const { seen: records, versions, held } = yield* lockRecords(dialect, keys, ifRecordLocked, gaps);
  const heldOf = ({ policy }: Send) => policy?.keys.filter((key) => held.has(key)) ?? [];
  const free = held.size === 0 ? locked : locked.filter((send) => heldOf(send).length === 0);
  const seenSpending = yield* readKeySpending(dialect, free, gaps);
  const {
    decisions,
    accepted,
    spent,
    records: changes,
    keySpending,
  } = decide(yield* checkSteps(dialect, free), { balances, replies, records, keySpending: seenSpending });
  if (gaps === 'leave' && decisions.some(({ kind }, index) => kind === 'refused' && free[index]?.once)) {
    throw new RecordMovedError('A refused send may repeat a send that was accepted since the snapshot.');
  }
  if (accepted.length > 0) {
    const statements = [
      debit(dialect, spent),
      ...insertSends(dialect, accepted, turns, gaps),
      ...writeKeySpending(dialect, keySpending),
      ...accepted.flatMap((send) => send.step?.write(dialect, send) ?? []),
    ];
    yield* writeAll(dialect.together(statements), changes.size === 0 && gaps === 'lock');
    if (gaps === 'leave') yield* insertNewReplies(dialect, accepted);
    yield* writeRecords(dialect, versions, changes, ifRecordLocked);
  }
  if (free.length === sends.length) return decisions;
  const decided = decisions[Symbol.iterator]();
  return sends.map((send) => {
    if (heldAccounts.has(send.accountId)) return { kind: 'busy' };
    const busy = heldOf(send);
    return busy.length > 0 ? { kind: 'busy', records: busy } : (decided.next().value ?? { kind: 'busy' });
  });
}

function* lockAccounts(
  dialect: Dialect,
  sends: readonly Send[],
  ifLocked: IfLocked,
): Operation<ReadonlyMap<string, number>> {
  const rows = yield* rowsOf(
    dialect.lockByIds('messaging_account', 'a.id, a.balance', ifLocked, 'no key update'),
    JSON.stringify(accountsOf(sends)),
  );
  return new Map(rows.map((row) => [textOf(row, 'id'), integerOf(row, 'balance')]));
}

/** Accounts that exist and were skipped because another transaction has locked them. */
function* findHeldAccounts(
  dialect: Dialect,
  sends: readonly Send[],
  locked: ReadonlyMap<string, number>,
): Operation<ReadonlySet<string>> {
  const missing = accountsOf(sends).filter((id) => !locked.has(id));
  if (missing.length === 0 || dialect.lock('a', 'skip') === '') return new Set();
  const rows = yield* rowsOf(`SELECT id FROM messaging_account WHERE id ${dialect.among()}`, JSON.stringify(missing));
  return new Set(rows.map((row) => textOf(row, 'id')));
}

function accountsOf(sends: readonly Send[]): string[] {
  return [...new Set(sends.map(({ accountId }) => accountId))];
}

function debit(dialect: Dialect, spent: ReadonlyMap<string, number>): Statement {
  return dialect.updateRows({
    table: 'messaging_account',
    set: { low: lowAfterDebit('v.spent'), balance: 'balance - v.spent' },
    shape: { account_id: 'id', spent: 'integer' },
    rows: [...spent],
    // There is no condition on the balance. If the decision is wrong, the column's CHECK must make the transaction
    // fail, so that no unpaid message is sent.
    on: 'id = v.account_id',
  });
}

/**
 * Whether the decision on these sends depends only on balances, and the database can check balances in the writing
 * statement.
 */
export function canAcceptAtOnce(dialect: Dialect, sends: readonly Send[]): boolean {
  return (
    dialect.ifPaid !== undefined && sends.every((send) => !send.once && !send.policy && !send.step && !isCapped(send))
  );
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * Does the work of `acceptSends` in one round trip. It decides as if every balance sufficed, and its statement writes
 * only if all balances suffice. If one does not, or if another transaction has locked an account, it writes nothing and
 * returns undefined. The caller then uses `acceptSends`.
 */
export function* acceptAtOnce(
  dialect: Dialect,
  sends: readonly Send[],
  decide: Decide,
  turns: LaneTurns,
): Operation<readonly CommitOutcome[] | undefined> {
  const balances = new Map(sends.map(({ accountId }) => [accountId, Number.POSITIVE_INFINITY]));
  const { decisions, accepted, spent } = decide(sends, { balances, replies: NONE, records: NONE, keySpending: NONE });
  const statement = dialect.ifPaid?.([...spent], insertSends(dialect, accepted, turns));
  if (!statement) return undefined;
  const { rows } = yield statement;
  return rows.some(({ paid }) => paid === true || paid === 1) ? decisions : undefined;
}
