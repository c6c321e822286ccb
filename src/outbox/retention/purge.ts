import { maskNumber } from '../../common/phone-numbers/phone-number.js';
import { DAY_MS } from '../../common/time.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import { listNumbers } from '../listing/recipients.js';
import { isPersonal, type Payload } from '../payload.js';
import { REMOVABLE, removeRecipients, replacePayloads, toRemovable } from './removal.js';
import { isRemoved, type RemoveContent } from './removed-payload.js';
import type { RetentionOrder } from './retention-records.js';

/** The progress of a purge. */
interface Progress {
  /** The id of the last message that was purged, '' before the first. */
  readonly place: string;
  /** The id after which the purge starts over, because messages after it were not complete or not old enough. */
  readonly skipped: string | undefined;
  /** When `skipped` was set, in milliseconds since the epoch. */
  readonly since: number;
}

/** A message that is old enough. */
interface Aged {
  readonly id: string;
  readonly recipients: number;
  /** Whether its recipients are being removed. If so, all its deliveries are complete. */
  readonly removed: boolean;
  /** Whether it is kept for now although it was accepted long ago, because its age counts from a later `send_at`. */
  readonly kept: boolean;
}

/** The time after which a purge returns to messages that were not complete or not old enough, in milliseconds. */
const AGAIN_MS = DAY_MS;

/** The maximum number of recipients that one read examines. */
const EXAMINED = 5000;

/** The messages of the next step of a purge. */
interface Step {
  readonly progress: Progress;
  /** The messages that are old enough, in the order of their ids. */
  readonly aged: readonly Aged[];
  /** The ids of those whose deliveries are all complete, and whose age does not count from a later `send_at`. */
  readonly closed: readonly string[];
}

/** Walks over old messages. Each step takes the next ones, runs `work` on them, and stores the progress. */
export class AgeWalk {
  constructor(
    private readonly database: Database,
    private readonly name: 'texts' | 'messages',
  ) {}

  /**
   * @param work one transaction; it returns false if it has to be repeated before the walk continues
   * @param before a separate transaction before `work` that locks messages. `work` may lock recipients, and other
   * transactions lock recipients before messages
   * @returns at least the limit of the order if there may be more to do
   */
  async step(
    order: RetentionOrder,
    work: (closed: readonly string[]) => Operation<boolean>,
    before?: (closed: readonly string[]) => Operation<void>,
  ): Promise<number> {
    const { database, name } = this;
    const { dialect } = database;
    const step = await this.next(order);
    if (step.aged.length === 0) {
      await this.startOver(step.progress, order.now);
      return 0;
    }
    const { progress } = step;
    const closed = [...step.closed].sort();
    const after = progressAfter(step, order.now);
    if (before) await database.writeAside(() => before(closed));
    const isDone = await database.writeAside(function* () {
      if (!(yield* work(closed))) return false;
      yield* moveOn(dialect, name, progress, after);
      return true;
    });
    return isDone && step.aged.length < order.limit ? step.aged.length : order.limit;
  }

  private async next({ before, limit }: RetentionOrder): Promise<Step> {
    const { database, name } = this;
    const { progress, aged } = await database.read(function* () {
      const found = yield* readProgress(name);
      const rows = yield* rowsOf(
        'SELECT id, recipients, accepted_at, send_at, removed_at FROM messaging_message WHERE id > ? ORDER BY id LIMIT ?',
        found.place,
        limit,
      );
      const young = rows.findIndex((row) => integerOf(row, 'accepted_at') >= before);
      const old = young < 0 ? rows : rows.slice(0, young);
      return {
        progress: found,
        aged: old.map((row) => ({
          id: textOf(row, 'id'),
          recipients: integerOf(row, 'recipients'),
          removed: optionalInteger(row, 'removed_at') !== undefined,
          kept: (optionalInteger(row, 'send_at') ?? before - 1) >= before,
        })),
      };
    });
    const closed = aged.filter(({ removed }) => removed).map(({ id }) => id);
    const undecided = aged.filter(({ removed, kept }) => !removed && !kept);
    for (const group of inGroups(undecided)) closed.push(...(await this.closedOf(group)));
    return { progress, aged, closed };
  }

  /**
   * Finds the messages whose deliveries are all complete. A complete delivery stays complete, so this is read before
   * the transaction and in parts.
   */
  private async closedOf(group: readonly Aged[]): Promise<readonly string[]> {
    const { database } = this;
    const { dialect } = database;
    const open = new Set<string>();
    const most = Math.max(...group.map(({ recipients }) => recipients));
    for (let from = 0; from < most && open.size < group.length; from += EXAMINED) {
      const rows = await database.read(() =>
        rowsOf(
          `SELECT v.id FROM ${dialect.rows({ id: 'id', low: 'integer', high: 'integer' })} WHERE EXISTS (
            SELECT 1 FROM messaging_recipient r${dialect.by('primary key')}
              WHERE ${dialect.lookUp('r.message_id = v.id')} AND r.position >= v.low AND r.position < v.high
                AND r.due_at IS NOT NULL)`,
          JSON.stringify(group.map(({ id }) => [id, from, from + EXAMINED])),
        ),
      );
      for (const row of rows) open.add(textOf(row, 'id'));
    }
    return group.map(({ id }) => id).filter((id) => !open.has(id));
  }

  /** At the end of the walk, once a day, returns to the first message that was not complete or not old enough. */
  private async startOver(progress: Progress, now: number): Promise<void> {
    const { database, name } = this;
    const { skipped, since } = progress;
    if (skipped === undefined || now - since < AGAIN_MS) return;
    const start = { place: skipped, skipped: undefined, since: now };
    await database.writeAside(() => moveOn(database.dialect, name, progress, start));
  }
}

/** Divides messages into groups with at most `EXAMINED` recipients together. A larger message is a group by itself. */
function* inGroups(messages: readonly Aged[]): Generator<readonly Aged[]> {
  let group: Aged[] = [];
  let size = 0;
  for (const message of messages) {
    if (group.length > 0 && size + message.recipients > EXAMINED) {
      yield group;
      group = [];
      size = 0;
    }
    group.push(message);
    size += message.recipients;
  }
  if (group.length > 0) yield group;
}

function progressAfter({ progress, aged, closed }: Step, now: number): Progress {
  const done = new Set(closed);
  const place = aged.at(-1)?.id ?? progress.place;
  const open = aged.findIndex(({ id }) => !done.has(id));
  if (open < 0 || progress.skipped !== undefined) return { ...progress, place };
  return { place, skipped: aged[open - 1]?.id ?? progress.place, since: now };
}

function* readProgress(name: string): Operation<Progress> {
  const [row] = yield* rowsOf('SELECT place, skipped, since FROM messaging_retention WHERE name = ?', name);
  if (!row) return { place: '', skipped: undefined, since: 0 };
  return {
    place: textOf(row, 'place'),
    skipped: optionalText(row, 'skipped'),
    since: optionalInteger(row, 'since') ?? 0,
  };
}

/** Stores the progress of a purge, unless another process has moved it on meanwhile. */
function* moveOn(
  dialect: Dialect,
  name: string,
  before: Progress,
  { place, skipped, since }: Progress,
): Operation<void> {
  const values = [place, skipped ?? null, since];
  const changed = yield* write(
    'UPDATE messaging_retention SET place = ?, skipped = ?, since = ? WHERE name = ? AND place = ?',
    ...values,
    name,
    before.place,
  );
  if (changed > 0 || before.place !== '') return;
  const sql = 'INSERT INTO messaging_retention (place, skipped, since, name) VALUES (?, ?, ?, ?)';
  yield* dialect.insertNew({ sql, params: [...values, name] }, 'name');
}

/**
 * Removes the values of personal texts of at most `limit` recipients of these messages.
 * @returns whether there are none left
 */
export function* removeVars(dialect: Dialect, ids: readonly string[], limit: number): Operation<boolean> {
  if (ids.length === 0) return true;
  const messages = yield* rowsOf(
    `SELECT id, payload FROM messaging_message WHERE id ${dialect.among()} ORDER BY id`,
    JSON.stringify(ids),
  );
  const personal = messages.flatMap((row) =>
    isPersonal(JSON.parse(textOf(row, 'payload'))) ? [textOf(row, 'id')] : [],
  );
  if (personal.length === 0) return true;
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.position FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id ${dialect.among()} AND r.vars IS NOT NULL ORDER BY r.message_id, r.position LIMIT ?`,
    JSON.stringify(personal),
    limit,
  );
  if (rows.length === 0) return true;
  yield dialect.updateRows({
    table: 'messaging_recipient',
    set: { vars: 'NULL' },
    shape: { message_id: 'id', position: 'integer' },
    rows: rows.map((row) => [textOf(row, 'message_id'), integerOf(row, 'position')]),
    on: 'messaging_recipient.message_id = v.message_id AND messaging_recipient.position = v.position',
  });
  return rows.length < limit;
}

/** Removes the contents of messages. */
export function* removeContents(dialect: Dialect, ids: readonly string[], remove: RemoveContent): Operation<void> {
  const rows = yield* rowsOf(
    `SELECT id, payload FROM messaging_message WHERE id ${dialect.among()} ORDER BY id`,
    JSON.stringify(ids),
  );
  const payloads = rows.flatMap((row): [string, object][] => {
    const payload: Payload = JSON.parse(textOf(row, 'payload'));
    return isRemoved(payload) ? [] : [[textOf(row, 'id'), remove(payload)]];
  });
  yield* replacePayloads(dialect, payloads);
}

/** Marks messages as removed. Their remaining payload has the first numbers, masked. */
export function* closeMessages(
  dialect: Dialect,
  ids: readonly string[],
  remove: RemoveContent,
  now: number,
): Operation<void> {
  const rows = yield* rowsOf(
    `SELECT id, payload FROM messaging_message WHERE id ${dialect.among()} AND removed_at IS NULL ORDER BY id`,
    JSON.stringify(ids),
  );
  const numbers = yield* listNumbers(
    dialect,
    rows.map((row) => textOf(row, 'id')),
  );
  const payloads = rows.map((row): [string, object] => {
    const id = textOf(row, 'id');
    return [id, { ...remove(JSON.parse(textOf(row, 'payload'))), numbers: (numbers.get(id) ?? []).map(maskNumber) }];
  });
  yield* replacePayloads(dialect, payloads, { removed_at: now });
}

/**
 * Removes at most `limit` recipients of marked messages among those from the first to the last of these ids.
 * @returns whether there are none left
 */
export function* removeRecipientsOf(dialect: Dialect, ids: readonly string[], limit: number): Operation<boolean> {
  const [first] = ids;
  if (first === undefined) return true;
  const rows = yield* rowsOf(
    `SELECT ${REMOVABLE} FROM messaging_recipient r${dialect.by('primary key')}
      ${dialect.thenJoin} messaging_message m${dialect.by('primary key')} ON ${dialect.lookUp('m.id = r.message_id')}
      WHERE r.message_id >= ? AND r.message_id <= ? AND m.removed_at IS NOT NULL
      ORDER BY r.message_id, r.position LIMIT ?`,
    first,
    ids.at(-1),
    limit,
  );
  yield* removeRecipients(dialect, rows.map(toRemovable));
  return rows.length < limit;
}

/** Removes the oldest entries of trails, as long as they are from before a time. */
export function* removeTrail(before: number, limit: number): Operation<number> {
  const rows = yield* rowsOf('SELECT id, at FROM messaging_trail ORDER BY id LIMIT ?', limit);
  const young = rows.findIndex((row) => integerOf(row, 'at') >= before);
  const old = young < 0 ? rows : rows.slice(0, young);
  const last = old.at(-1);
  if (!last) return 0;
  return yield* write('DELETE FROM messaging_trail WHERE id <= ?', integerOf(last, 'id'));
}
