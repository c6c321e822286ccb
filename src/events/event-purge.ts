import type { Database } from '../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, optionalInteger, textOf } from '../storage/engine/rows.js';
import { numbersOf, RUN } from './event-runs.js';

/** How many accounts one call reads. */
const ACCOUNTS = 500;

/** A log with events to remove. */
interface Aged {
  readonly accountId: string;
  readonly earliest: number;
  /**
   * The lowest number that is stored. It is below `earliest` if a purge was interrupted, or if the log was switched on
   * again.
   */
  readonly first: number;
}

/** Removes old events, account by account in the order of their ids. */
export class EventPurge {
  /** The last account that was read. */
  private place = '';

  constructor(private readonly database: Database) {}

  /** See `EventLog.purge`. */
  async purge(before: number, limit: number): Promise<number> {
    const { aged, next } = await this.database.read(() => agedLogs(this.place, before));
    let removed = 0;
    for (const log of aged) {
      if (removed >= limit) return removed;
      removed += await this.purgeLog(log, before, limit - removed);
      this.place = removed < limit ? log.accountId : this.place;
    }
    if (removed >= limit) return removed;
    this.place = next ?? '';
    return next === undefined ? removed : limit;
  }

  /**
   * Moves `earliest` first, which locks the counter only for a moment. Nobody reads the events below it any more, so
   * they are removed after that without a lock.
   */
  private async purgeLog({ accountId, earliest, first }: Aged, before: number, limit: number): Promise<number> {
    const end = await this.database.read(() => firstKept(accountId, Math.max(first, earliest), before, limit));
    if (end > earliest) {
      const move = 'UPDATE messaging_event_counter SET earliest = ? WHERE id = ? AND earliest < ?';
      await this.database.writeAside(() => write(move, end, accountId, end));
    }
    return this.database.writeAside(() => removeRows(accountId, first, Math.max(end, earliest), limit));
  }
}

/** Removes about `limit` events from `first` on and below `end`. Returns the number of removed events. */
function* removeRows(accountId: string, first: number, end: number, limit: number): Operation<number> {
  const rows =
    'FROM messaging_event WHERE account_id = ? AND sequence >= ? AND sequence < ? AND sequence - earlier < ?';
  const bounds = [accountId, first, Math.min(end, first + limit + RUN), first + limit];
  const [row] = yield* rowsOf(`SELECT sum(earlier + 1) AS events ${rows}`, ...bounds);
  yield* write(`DELETE ${rows}`, ...bounds);
  return optionalInteger(row ?? {}, 'events') ?? 0;
}

function* agedLogs(
  place: string,
  before: number,
): Operation<{ readonly aged: readonly Aged[]; readonly next: string | undefined }> {
  const oldest = 'FROM messaging_event e WHERE e.account_id = c.id ORDER BY e.sequence LIMIT 1';
  const rows = yield* rowsOf(
    `SELECT c.id, c.earliest, (SELECT e.sequence - e.earlier ${oldest}) AS first, (SELECT e.at ${oldest}) AS at
      FROM messaging_event_counter c WHERE c.id > ? ORDER BY c.id LIMIT ?`,
    place,
    ACCOUNTS,
  );
  const aged = rows.flatMap((row): Aged[] => {
    const [first, at] = [optionalInteger(row, 'first'), optionalInteger(row, 'at')];
    const earliest = integerOf(row, 'earliest');
    if (first === undefined || at === undefined || (first >= earliest && at >= before)) return [];
    return [{ accountId: textOf(row, 'id'), earliest, first }];
  });
  const last = rows.at(-1);
  return { aged, next: rows.length < ACCOUNTS || !last ? undefined : textOf(last, 'id') };
}

/**
 * The lowest number that must be kept: that of the first event that is young enough, or that an endpoint has still to
 * try.
 */
function* firstKept(accountId: string, from: number, before: number, limit: number): Operation<number> {
  const untried = yield* rowsOf(
    `SELECT p.cursor_at + 1 AS next, (SELECT min(r.sequence) FROM messaging_endpoint_retry r
        WHERE r.endpoint_id = p.id AND r.due_at IS NOT NULL) AS retried
      FROM messaging_endpoint p WHERE p.account_id = ? AND p.status = 'enabled'`,
    accountId,
  );
  const bounds = untried.map((row) => Math.min(integerOf(row, 'next'), optionalInteger(row, 'retried') ?? Infinity));
  const limited = from + limit;
  const bound = Math.min(limited + RUN, ...bounds);
  const rows = yield* rowsOf(
    `SELECT e.sequence, e.earlier, e.at FROM messaging_event e
      WHERE e.account_id = ? AND e.sequence >= ? AND e.sequence < ? AND e.sequence - e.earlier < ? ORDER BY e.sequence`,
    accountId,
    from,
    bound,
    limited,
  );
  const young = rows.find((row) => integerOf(row, 'at') >= before);
  const last = rows.at(-1);
  return young ? numbersOf(young).first : last ? integerOf(last, 'sequence') + 1 : from;
}
