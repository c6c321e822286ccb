import { recordAudit } from '../../accounts/audit/audit.js';
import type { Author } from '../../accounts/audit/audit-entry.js';
import type { TransactionPublisher } from '../../events/event-recorder.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { integerOf } from '../../storage/engine/rows.js';
import type { DeliveryTransition } from '../outbox-records.js';
import { settleDeliveries } from './settle.js';

/** The maximum number of recipients that one transaction cancels, so that no other account waits for long. */
export const CANCEL_SLICE = 500;

/** Selects the waiting recipients of a message that are canceled. */
export interface CancelOrder {
  readonly accountId: string;
  readonly messageId: string;
  /** Only recipients with one of these numbers; undefined: all. */
  readonly numbers?: readonly string[] | undefined;
  /** The first position of the slice: 0, then the `next` of the slice before. */
  readonly from: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** For the audit log. */
  readonly by?: Author | undefined;
}

/** The result of one slice. */
export interface CanceledSlice {
  readonly transitions: readonly DeliveryTransition[];
  /** Where the next slice begins; undefined at the end. */
  readonly next: number | undefined;
}

/**
 * Cancels some waiting recipients and refunds them: see `OutboxStore.cancel`. The recipients are found without a lock. A
 * worker may claim one of them before it is locked; `nextState` then leaves it as it is.
 */
export function* cancelSlice(
  dialect: Dialect,
  { accountId, messageId, numbers, from, at, by }: CancelOrder,
  publisher: TransactionPublisher,
): Operation<CanceledSlice> {
  const only = withNumbers(dialect, numbers);
  const rows = yield* rowsOf(
    `SELECT r.position FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id = ? AND r.position >= ? AND r.status = 'queued'${only.sql} ORDER BY r.position LIMIT ?`,
    messageId,
    from,
    ...only.params,
    CANCEL_SLICE,
  );
  const positions = rows.map((row) => integerOf(row, 'position'));
  const last = positions.at(-1);
  if (last === undefined) return { transitions: [], next: undefined };
  if (by && from === 0) yield* recordAudit({ accountId, at, by, action: 'message.canceled', target: messageId });
  const updates = positions.map((position) => ({ messageId, position, status: 'canceled', at }) as const);
  const transitions = yield* settleDeliveries(dialect, updates, publisher);
  return { transitions, next: positions.length < CANCEL_SLICE ? undefined : last + 1 };
}

/** How many recipients a message has, and how many of them are canceled. */
export interface CancelCount {
  readonly recipients: number;
  readonly canceled: number;
}

/** See `OutboxStore.countCanceled`. */
export function* countCanceled(
  dialect: Dialect,
  messageId: string,
  numbers: readonly string[] | undefined,
): Operation<CancelCount> {
  const only = withNumbers(dialect, numbers);
  const rows = yield* rowsOf(
    `SELECT r.status, count(*) AS recipients FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id = ?${only.sql} GROUP BY r.status`,
    messageId,
    ...only.params,
  );
  let [recipients, canceled] = [0, 0];
  for (const row of rows) {
    recipients += integerOf(row, 'recipients');
    if (row.status === 'canceled') canceled += integerOf(row, 'recipients');
  }
  return { recipients, canceled };
}

function withNumbers(dialect: Dialect, numbers: readonly string[] | undefined): Statement {
  if (numbers === undefined) return { sql: '', params: [] };
  return { sql: ` AND r.number ${dialect.among()}`, params: [JSON.stringify(numbers)] };
}
