import type { EventRecorder } from '../../events/event-recorder.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Executor } from '../../storage/engine/executor.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, shapeOf, textOf } from '../../storage/engine/rows.js';
import { isPhone } from '../phone-filter.js';
import {
  type DueTextsOrder,
  isWhole,
  type JoinedParts,
  type LongText,
  type LongTextContent,
  type NewPart,
  ReceivedSmsStore,
  type ReceivedText,
  type WriterQuery,
} from './received-sms-store.js';

/** Texts of phones in SQL. */
export class TypeormReceivedSmsStore extends ReceivedSmsStore {
  constructor(
    private readonly executor: Executor,
    private readonly recorder: EventRecorder,
  ) {
    super();
  }

  override receive(texts: readonly ReceivedText[], now: number): Promise<readonly boolean[]> {
    const { dialect } = this.executor;
    return this.recorder.write(function* ({ tell }) {
      const changed = yield* removeParts(texts);
      const left = texts.filter(({ joined }) => joined === undefined || !changed.has(joined));
      const isNew = yield* addNames(dialect, left, now);
      const added = new Set(left.filter((_, index) => isNew[index]));
      for (const { events } of added) events.forEach(tell);
      return texts.map((text) => added.has(text));
    });
  }

  override addPart(part: NewPart, now: number): Promise<LongText | undefined> {
    return this.executor.write(() => addPart(this.executor.dialect, part, now));
  }

  override async dueTexts(order: DueTextsOrder): Promise<readonly LongText[]> {
    return (await this.executor.read(() => findDueTexts(order))).map(toLongText);
  }

  override eraseParts(number: string): Promise<number> {
    const { sql, params } = isPhone('phone', number);
    return this.executor.write(() => write(`DELETE FROM messaging_sms_long WHERE ${sql}`, ...params));
  }

  override async lastWriter(query: WriterQuery): Promise<string | undefined> {
    const [row] = await this.executor.browse(() => findLastWriter(this.executor.dialect, query), undefined);
    return row && textOf(row, 'account_id');
  }

  override purge(now: number, limit: number): Promise<number> {
    return this.executor.write(() =>
      write(this.executor.dialect.deleteFirst('messaging_sms_received', 'id', 'expires_at'), now, limit),
    );
  }
}

const NAME = shapeOf('id text_id', 'expires_at');

/** Stores the names of texts. Returns for each text whether its name is new. */
function* addNames(dialect: Dialect, texts: readonly ReceivedText[], now: number): Operation<readonly boolean[]> {
  // If two texts have the same name, the first one counts. The rows are sorted, so that two transactions with the same texts wait for each other in one order only.
  const named = texts.flatMap(({ name, id, expiresAt, joined }) => [
    [name, id, expiresAt] as const,
    ...(joined?.names.map((each) => [each, id, joined.expiresAt] as const) ?? []),
  ]);
  const rows = [...new Map(named.reverse().map((row) => [row[0], row])).values()].sort();
  const names = JSON.stringify(rows.map(([name]) => name));
  const find = `SELECT n.id, n.text_id, n.expires_at FROM messaging_sms_received n WHERE n.id ${dialect.among()}`;
  // Deletes only if there are any: a delete that finds nothing would lock gaps.
  const expired = (yield* rowsOf(find, names)).filter((row) => integerOf(row, 'expires_at') <= now);
  if (expired.length > 0) {
    yield* write(
      `DELETE FROM messaging_sms_received WHERE id ${dialect.among()} AND expires_at <= ?`,
      JSON.stringify(expired.map((row) => textOf(row, 'id')).sort()),
      now,
    );
  }
  yield dialect.insertRows({ table: 'messaging_sms_received', shape: NAME, rows, onDuplicate: ['id'] });
  const textOfName = new Map((yield* rowsOf(find, names)).map((row) => [textOf(row, 'id'), textOf(row, 'text_id')]));
  return texts.map(({ id, name }) => textOfName.get(name) === id);
}

/**
 * Stores a part: see `ReceivedSmsStore.addPart`.
 *
 * The insert also locks the row of a text that exists already. So this transaction sees the parts that other processes have
 * stored, and adds its own to them. It looks for the part's name under the same lock, because the transaction that stores the
 * names of a whole text also removes the text's row.
 */
function* addPart(dialect: Dialect, part: NewPart, now: number): Operation<LongText | undefined> {
  const { id, phone, revision, source, number, text, name, expiresAt, wholeExpiresAt } = part;
  const begun: LongTextContent = { ...source, parts: {} };
  const rows = [[id, phone, revision, JSON.stringify(begun), 0, expiresAt]];
  yield dialect.insertRows({ table: 'messaging_sms_long', shape: LONG_TEXT, rows, onDuplicate: ['id', ['phone']] });
  const [row] = yield* rowsOf(
    `SELECT t.id, t.revision, t.content, t.expires_at,
      (SELECT count(*) FROM messaging_sms_received n WHERE n.id = ? AND n.expires_at > ?) AS known
      FROM messaging_sms_long t WHERE t.id = ?`,
    name,
    now,
    id,
  );
  if (!row) throw new Error('A row that was just inserted is not there.');
  const waiting = toLongText(row);
  const { parts } = waiting.content;
  if (integerOf(row, 'known') > 0) {
    if (Object.keys(parts).length === 0) yield* write('DELETE FROM messaging_sms_long WHERE id = ?', id);
    return undefined;
  }
  if (parts[number] === text) return waiting;
  const content: LongTextContent = { ...waiting.content, parts: { ...parts, [number]: text } };
  const stored = JSON.stringify(content);
  yield* write(
    'UPDATE messaging_sms_long SET revision = ?, content = ?, characters = ?, expires_at = ? WHERE id = ?',
    revision,
    stored,
    stored.length,
    isWhole(content) ? wholeExpiresAt : integerOf(row, 'expires_at'),
    id,
  );
  return { id, revision, content };
}

const LONG_TEXT = shapeOf('id phone revision content', 'characters expires_at');

function toLongText(row: Row): LongText {
  const content: LongTextContent = JSON.parse(textOf(row, 'content'));
  return { id: textOf(row, 'id'), revision: textOf(row, 'revision'), content };
}

/**
 * Reads the texts that are due. A sum over all rows shows first whether there are any. The limits count from the newest text, so
 * that the oldest ones are those beyond them.
 */
function* findDueTexts({ dueBy, maxTexts, maxCharacters, limit }: DueTextsOrder): Operation<readonly Row[]> {
  const [all] = yield* rowsOf(
    'SELECT count(*) AS texts, sum(characters) AS characters, min(expires_at) AS first_at FROM messaging_sms_long',
  );
  const firstAt = all && optionalInteger(all, 'first_at');
  if (all === undefined || firstAt === undefined) return [];
  const isFull = integerOf(all, 'texts') > maxTexts || integerOf(all, 'characters') > maxCharacters;
  if (firstAt > dueBy && !isFull) return [];
  return yield* rowsOf(
    `SELECT t.id, t.revision, t.content FROM (SELECT s.id, s.expires_at,
        ROW_NUMBER() OVER (ORDER BY s.expires_at DESC, s.id) AS place,
        SUM(s.characters) OVER (ORDER BY s.expires_at DESC, s.id) AS held FROM messaging_sms_long s) w
      JOIN messaging_sms_long t ON t.id = w.id WHERE w.expires_at <= ? OR w.place > ? OR w.held > ?
      ORDER BY w.expires_at, w.id LIMIT ?`,
    dueBy,
    maxTexts,
    maxCharacters,
    limit,
  );
}

/** Removes the parts that texts were joined from. Returns those that another process has removed or changed meanwhile. */
function* removeParts(texts: readonly ReceivedText[]): Operation<ReadonlySet<JoinedParts>> {
  const all = texts.flatMap(({ joined }) => joined ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  const changed = new Set<JoinedParts>();
  for (const joined of all) {
    const { id, revision } = joined;
    if ((yield* write('DELETE FROM messaging_sms_long WHERE id = ? AND revision = ?', id, revision)) === 0) {
      changed.add(joined);
    }
  }
  return changed;
}

/**
 * Looks into each account separately: for a join, PostgreSQL would read the index of all accounts. A text that was never handed
 * over, for instance because the number has opted out, does not count: the phone did not get it, so it answers another one.
 */
function findLastWriter(dialect: Dialect, { number, signatures, since }: WriterQuery) {
  const phone = isPhone('s.number', number);
  const last = `SELECT s.sent_at FROM messaging_sent_to s${dialect.by('primary key')}
      ${dialect.thenJoin} messaging_message m${dialect.by('primary key')}
        ON ${dialect.lookUp('m.id = s.message_id')} AND m.sender ${dialect.among()}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')}
        ON ${dialect.lookUp('r.message_id = s.message_id AND r.position = s.position')} AND r.status NOT IN ('queued', 'failed')
      WHERE s.account_id = a.id AND s.channel = 'sms' AND ${phone.sql} AND s.sent_at >= ?
      ORDER BY s.sent_at DESC LIMIT 1`;
  return rowsOf(
    `SELECT w.account_id FROM (SELECT a.id AS account_id, (${last}) AS sent_at FROM messaging_account a) w
      WHERE w.sent_at IS NOT NULL ORDER BY w.sent_at DESC, w.account_id LIMIT 1`,
    JSON.stringify(signatures),
    ...phone.params,
    since,
  );
}
