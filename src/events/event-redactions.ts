import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, type Row, rowsOf } from '../storage/engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../storage/engine/rows.js';
import type { Redact } from './event-redaction.js';
import { contentsOf, contentText } from './event-runs.js';

/** How many events one step reads. `ACCOUNTS` is the same for accounts. */
const EVENTS = 1000;
const ACCOUNTS = 200;

/** Removes a number from the logs of some accounts: see `EventLog.erase`. */
export async function eraseEvents(
  database: Database,
  number: string,
  accountIds: readonly string[],
  redact: Redact,
): Promise<number> {
  let erased = 0;
  for (const accountId of accountIds) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const place: number = after;
      const read = () =>
        rowsOf(
          `SELECT e.sequence, e.earlier, e.at, CASE WHEN e.data LIKE ? THEN e.data END AS data FROM messaging_event e
            WHERE e.account_id = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?`,
          `%${JSON.stringify(number)}%`,
          accountId,
          place,
          EVENTS,
        );
      const rows: readonly Row[] = await database.browse(read, accountId);
      erased += await rewrite(database, accountId, rows, redact);
      const last = rows.at(-1);
      after = rows.length < EVENTS || !last ? undefined : integerOf(last, 'sequence');
    }
  }
  return erased;
}

/**
 * Redacts the logs in the order of the accounts' ids, each as far as its events are old enough. It remembers its place
 * in memory only, so a new process reads all kept events once more.
 */
export class EventRedaction {
  private readonly done = new Map<string, number>();
  /** The last account that was read. */
  private place = '';

  constructor(
    private readonly database: Database,
    private readonly redact: Redact,
  ) {}

  /** @returns the number of events that it read. If it is `limit` or more, there may be others */
  async step(before: number, limit: number): Promise<number> {
    const rows = await this.database.read(() =>
      rowsOf('SELECT c.id FROM messaging_event_counter c WHERE c.id > ? ORDER BY c.id LIMIT ?', this.place, ACCOUNTS),
    );
    let read = 0;
    for (const accountId of rows.map((row) => textOf(row, 'id'))) {
      if (read >= limit) return read;
      const events = await this.database.read(() => oldEvents(accountId, this.done.get(accountId) ?? 0, before, limit));
      await rewrite(this.database, accountId, events, this.redact);
      const last = events.at(-1);
      if (last) this.done.set(accountId, integerOf(last, 'sequence'));
      read += events.length;
      if (events.length < limit) this.place = accountId;
    }
    if (rows.length === ACCOUNTS) return limit;
    if (read < limit) this.place = '';
    return read;
  }
}

function* oldEvents(accountId: string, after: number, before: number, limit: number): Operation<readonly Row[]> {
  const rows = yield* rowsOf(
    `SELECT e.sequence, e.earlier, e.at, e.data FROM messaging_event e WHERE e.account_id = ? AND e.sequence > ?
      ORDER BY e.sequence LIMIT ?`,
    accountId,
    after,
    limit,
  );
  const young = rows.findIndex((row) => integerOf(row, 'at') >= before);
  return young < 0 ? rows : rows.slice(0, young);
}

/** Writes the redacted events. Returns the number of changed events. */
async function rewrite(database: Database, accountId: string, rows: readonly Row[], redact: Redact): Promise<number> {
  const found = changes(rows, redact);
  return found.length === 0 ? 0 : database.writeAside(() => redactRows(database.dialect, accountId, found, redact));
}

/** A row after the redaction of some of its events. */
interface Changed {
  readonly sequence: number;
  readonly data: string;
  /** How many of its events change. */
  readonly events: number;
}

function changes(rows: readonly Row[], redact: Redact): readonly Changed[] {
  return rows.flatMap((row): readonly Changed[] => {
    if (optionalText(row, 'data') === undefined) return [];
    const stored = contentsOf(row);
    // A removed value becomes empty, but its field stays, so that all events of a run have the same fields.
    const left = stored.map(({ at, data }) => ({ at, data: redact(data) }));
    const events = left.filter(({ data }, index) => data !== stored[index]?.data).length;
    return events === 0 ? [] : [{ sequence: integerOf(row, 'sequence'), data: contentText(left), events }];
  });
}

/**
 * Locks the events and reads them again. Another redaction may have removed something meanwhile, which must stay
 * removed.
 */
function* redactRows(
  dialect: Dialect,
  accountId: string,
  found: readonly Changed[],
  redact: Redact,
): Operation<number> {
  const rows = yield* rowsOf(
    `SELECT e.sequence, e.earlier, e.at, e.data FROM ${dialect.rowsInOrder({ account_id: 'id', sequence: 'integer' }, 'sequence')}
      ${dialect.thenJoin} messaging_event e${dialect.by('primary key')} ON ${dialect.lookUp('e.account_id = v.account_id AND e.sequence = v.sequence')}
      ORDER BY e.sequence${dialect.lock('e', 'wait', 'no key update')}`,
    JSON.stringify(found.map(({ sequence }) => [accountId, sequence])),
  );
  const left = changes(rows, redact);
  if (left.length === 0) return 0;
  yield dialect.updateRows({
    table: 'messaging_event',
    set: { data: 'v.data' },
    shape: { account_id: 'id', ...shapeOf('data', 'sequence') },
    rows: left.map(({ sequence, data }) => [accountId, data, sequence]),
    on: 'messaging_event.account_id = v.account_id AND messaging_event.sequence = v.sequence',
  });
  return left.reduce((sum, { events }) => sum + events, 0);
}
