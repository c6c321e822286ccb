import { REFUNDED_STATUSES, sqlListOf } from '../../events/delivery-status.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { NewEvent } from '../../events/event-types.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, shapeOf, textOf } from '../../storage/engine/rows.js';
import { isPhone } from '../phone-filter.js';

/** A stored text of a phone: its name and its events. */
export interface ReceivedText {
  /** The id of its events. */
  readonly id: string;
  /** The name of the text, which a repeat has too. At most 64 characters. */
  readonly name: string;
  /** Until when the name is kept, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** One event for each account that the text belongs to. */
  readonly events: readonly NewEvent<'sms.received'>[];
  /** The parts that the text was joined from. The text is new only if these parts still wait unchanged. */
  readonly joined?: JoinedParts;
}

/** The parts that a text was joined from. */
export interface JoinedParts extends Pick<LongText, 'id' | 'revision'> {
  /** The names of the parts, which repeats have too. */
  readonly names: readonly string[];
  /** Until when these names are kept, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A text whose parts wait. */
export interface LongText {
  /** At most 64 characters. */
  readonly id: string;
  /** The revision of the text. It is new after each change. */
  readonly revision: string;
  readonly content: LongTextContent;
}

/** The content of a long text that was joined from its parts. */
export interface LongTextContent {
  readonly route: string;
  readonly from: string;
  readonly to: string;
  /** The reference that its parts share. */
  readonly reference: string;
  /** How many parts it has. */
  readonly total: number;
  /** The parts that have come, by their numbers, which begin at 1. */
  readonly parts: Readonly<Record<number, string>>;
}

export function isWhole({ parts, total }: LongTextContent): boolean {
  return Object.keys(parts).length === total;
}

/** A part of a long text. */
export interface NewPart extends Pick<LongText, 'id' | 'revision'> {
  /** The number of the phone, by which an erasure finds the text. At most 64 characters. */
  readonly phone: string;
  readonly source: Omit<LongTextContent, 'parts'>;
  /** The number of the part. The first part is 1. */
  readonly number: number;
  readonly text: string;
  /** The name of the part, which a repeat has too. */
  readonly name: string;
  /** Until when the text waits for its other parts if this one begins it, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Until when the text waits to be stored if this part completes it, in milliseconds since the epoch. */
  readonly wholeExpiresAt: number;
}

/** The waiting texts to pass on. */
export interface DueTextsOrder {
  /** Texts that wait until this moment or an earlier one, in milliseconds since the epoch. */
  readonly dueBy: number;
  /** The oldest texts, if there are more than so many. */
  readonly maxTexts: number;
  /** The oldest texts, if all stored texts together have more than so many characters. */
  readonly maxCharacters: number;
  readonly limit: number;
}

/** A question about the account that wrote to a phone. */
export interface WriterQuery {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly signatures: readonly string[];
  /** Only texts since this moment, in milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Persists which texts of phones have come, so that each text gives its events once, and the parts of long texts. Every method is
 * one transaction.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class ReceivedSmsStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Stores the names of texts with their events in the accounts' logs. For a repeat it stores nothing. The parts that a text was
   * joined from are removed, and their names are stored. If these parts are gone or have changed, the text is not new.
   * @returns for each text, whether it is new
   */
  receive(texts: readonly ReceivedText[], now: number): Promise<readonly boolean[]> {
    const { dialect } = this.database;
    return this.recorder.write(function* ({ publish }) {
      const changed = yield* removeParts(texts);
      const left = texts.filter(({ joined }) => joined === undefined || !changed.has(joined));
      const isNew = yield* addNames(dialect, left, now);
      const added = new Set(left.filter((_, index) => isNew[index]));
      for (const { events } of added) events.forEach(publish);
      return texts.map((text) => added.has(text));
    });
  }

  /**
   * Stores a part. Parts of one text that come at once, also in several processes, are stored one after the other, so that one of
   * them completes it.
   * @returns the text with all parts that have come. Undefined: the part is a repeat, and its text is already stored
   */
  addPart(part: NewPart, now: number): Promise<LongText | undefined> {
    return this.database.write(() => addPart(this.database.dialect, part, now));
  }

  /** Returns the waiting texts that are due, the oldest first. They go on waiting until `receive` removes their parts. */
  async dueTexts(order: DueTextsOrder): Promise<readonly LongText[]> {
    return (await this.database.read(() => findDueTexts(order))).map(toLongText);
  }

  /**
   * Removes the waiting parts of a number, in all of its spellings.
   * @returns how many texts the parts belonged to
   */
  eraseParts(number: string): Promise<number> {
    const { sql, params } = isPhone('phone', number);
    return this.database.write(() => write(`DELETE FROM messaging_sms_long WHERE ${sql}`, ...params));
  }

  /**
   * Returns the account that has sent the newest text to a number under one of these signatures since a moment. Undefined: there
   * is none. It looks once into each account.
   */
  async lastWriter(query: WriterQuery): Promise<string | undefined> {
    const [row] = await this.database.browse(() => findLastWriter(this.database.dialect, query), undefined);
    return row && textOf(row, 'account_id');
  }

  /**
   * Removes at most `limit` names that have expired by `now`, in milliseconds since the epoch.
   * @returns how many were removed
   */
  purge(now: number, limit: number): Promise<number> {
    return this.database.write(() =>
      write(this.database.dialect.deleteFirst('messaging_sms_received', 'id', 'expires_at'), now, limit),
    );
  }
}

const NAME = shapeOf('id text_id', 'expires_at');

/** Stores the names of texts. Returns for each text whether its name is new. */
function* addNames(dialect: Dialect, texts: readonly ReceivedText[], now: number): Operation<readonly boolean[]> {
  // If two texts have the same name, the first one counts. The rows are sorted, so that two transactions with the same texts
  // cannot deadlock.
  const named = texts.flatMap(({ name, id, expiresAt, joined }) => [
    [name, id, expiresAt] as const,
    ...(joined?.names.map((each) => [each, id, joined.expiresAt] as const) ?? []),
  ]);
  const rows = [...new Map(named.reverse().map((row) => [row[0], row])).values()].sort();
  const names = JSON.stringify(rows.map(([name]) => name));
  const find = `SELECT n.id, n.text_id, n.expires_at FROM messaging_sms_received n WHERE n.id ${dialect.among()}`;
  // It deletes only if there are such rows, because a delete that finds nothing would lock gaps.
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
 * Reads the texts that are due. First a sum over all rows shows whether there are any. The limits count from the newest text, so
 * that the oldest texts are those beyond the limits.
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

/** The states of an SMS that was not handed over. */
const NEVER_SENT = sqlListOf(['queued', ...REFUNDED_STATUSES]);

/**
 * Looks into each account separately: for a join, PostgreSQL would read the index of all accounts. A text that was never handed
 * over does not count, for example because the number has opted out. The phone did not get it, so the phone answers another text.
 */
function findLastWriter(dialect: Dialect, { number, signatures, since }: WriterQuery) {
  const phone = isPhone('s.number', number);
  const last = `SELECT s.sent_at FROM messaging_sent_to s${dialect.by('primary key')}
      ${dialect.thenJoin} messaging_message m${dialect.by('primary key')}
        ON ${dialect.lookUp('m.id = s.message_id')} AND m.sender ${dialect.among()}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')}
        ON ${dialect.lookUp('r.message_id = s.message_id AND r.position = s.position')} AND r.status NOT IN (${NEVER_SENT})
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
