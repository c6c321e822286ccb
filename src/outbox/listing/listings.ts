import { MessagingError } from '../../common/errors.js';
import { spellingsOf } from '../../common/phone-numbers/phone-spellings.js';
import type { Metadata } from '../../events/events.api.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import { and } from '../../storage/read-page.js';
import type { DeliveryStatus } from '../delivery-state.js';
import { hasMetadata } from '../metadata.js';
import type { MessagePage, MessageQuery } from '../outbox-records.js';
import { findMessages, listAll, storedMetadata } from './messages.js';
import { EXAMINED_RECIPIENTS, seenAs } from './recipients.js';
import { listScheduled } from './scheduled.js';

/** The maximum number of messages that are examined for one page. */
const EXAMINED_MESSAGES = 2000;

/** See `OutboxStore.list`. */
export function* listMessages(dialect: Dialect, query: MessageQuery): Operation<MessagePage> {
  const { kinds, number, status, sender, metadata } = query;
  if (query.dueAfter !== undefined) return yield* listScheduled(dialect, query, query.dueAfter);
  const isPlain = [number, status, sender, metadata].every((condition) => condition === undefined);
  // Messages of one kind are in the order of an index.
  if (isPlain && kinds.length === 1) {
    return yield* listAll(dialect, [listed(query)], within(query, 'accepted_at'), query);
  }
  return yield* findMessages(dialect, yield* searchMessages(dialect, query));
}

/** A message to examine. */
interface Candidate {
  readonly id: string;
  readonly kind: string;
  readonly at: number;
  readonly sender: string;
  /** Undefined unless metadata is searched for. */
  readonly metadata: Metadata | undefined;
  /** The range of positions of the recipients to examine; `to` is excluded. */
  readonly from: number;
  readonly to: number;
}

/** The place where a search continues: after a message, or at one of its recipients. */
interface Place {
  readonly id: string;
  readonly at: number;
  readonly position: number | undefined;
}

/**
 * Examines messages in the order of an index, and limits the number of examined messages and recipients. So if matches
 * are rare, they are found over several pages, and none of these pages takes more work than a full page. The examined
 * rows are small. The matching messages are then read by their ids.
 */
function* searchMessages(dialect: Dialect, query: MessageQuery): Operation<MessagePage<string>> {
  const { kinds, limit, sender, metadata, status } = query;
  const found: string[] = [];
  const left = { messages: EXAMINED_MESSAGES, recipients: EXAMINED_RECIPIENTS };
  let place = query.after === undefined ? undefined : yield* placeOf(query, query.after);
  for (let size = limit + 1; ; size = Math.min(2 * size, left.messages)) {
    const candidates = yield* readCandidates(dialect, query, place, size);
    const seen: Candidate[] = [];
    let cut: Place | undefined;
    for (const candidate of candidates) {
      const { id, at, from, to } = candidate;
      if (left.recipients === 0) break;
      place = { id, at, position: undefined };
      left.messages--;
      if (!kinds.includes(candidate.kind)) continue;
      if (sender !== undefined && candidate.sender !== sender) continue;
      if (metadata !== undefined && !hasMetadata(candidate.metadata, metadata)) continue;
      const end = status === undefined ? to : Math.min(to, from + left.recipients);
      if (status !== undefined) left.recipients -= end - from;
      if (end < to) cut = { id, at, position: end };
      seen.push({ ...candidate, to: end });
    }
    const matching = status === undefined ? undefined : yield* withRecipientsIn(dialect, query, status, seen);
    for (const { id } of seen) if (matching === undefined || matching.has(id)) found.push(id);
    if (found.length > limit) return { items: found.slice(0, limit), next: found[limit - 1] };
    if (cut && !matching?.has(cut.id)) {
      return { items: found, next: `${cut.id}:${cut.position}`, searchedUntil: cut.at };
    }
    const isEnd = candidates.length < size && candidates.at(-1)?.id === place?.id;
    if (isEnd || candidates.length === 0) return { items: found, next: undefined };
    if (place && (left.messages === 0 || left.recipients === 0)) {
      return { items: found, next: place.id, searchedUntil: place.at };
    }
  }
}

/** @throws MessagingError `error.invalid_cursor` if `after` is not a message of the listing */
function* placeOf(query: MessageQuery, after: string): Operation<Place> {
  const [id = '', position] = after.split(':');
  const where = and([{ sql: 'id = ?', params: [id] }, listed(query)]);
  const [row] = yield* rowsOf(`SELECT accepted_at FROM messaging_message WHERE ${where.sql}`, ...where.params);
  if (!row) throw new MessagingError('error.invalid_cursor');
  return { id, at: integerOf(row, 'accepted_at'), position: position === undefined ? undefined : Number(position) };
}

function* readCandidates(
  dialect: Dialect,
  query: MessageQuery,
  place: Place | undefined,
  size: number,
): Operation<readonly Candidate[]> {
  const { number } = query;
  const { sql, params } =
    number === undefined ? ofListing(dialect, query, place, size) : sentTo(dialect, query, number, place, size);
  const rows = yield* rowsOf(sql, ...params);
  return rows.map((row) => {
    const id = textOf(row, 'id');
    const position = number === undefined ? undefined : integerOf(row, 'position');
    const to = position === undefined ? integerOf(row, 'recipients') : position + 1;
    const start = place?.id === id ? Math.min(place.position ?? 0, to) : 0;
    const [at, sender] = [integerOf(row, 'accepted_at'), textOf(row, 'sender')];
    return { id, kind: textOf(row, 'kind'), at, sender, metadata: storedMetadata(row), from: position ?? start, to };
  });
}

/** Reads the first messages of each kind in the order of an index, and takes the first of these. */
function ofListing(dialect: Dialect, query: MessageQuery, place: Place | undefined, size: number): Statement {
  const ofKinds = query.kinds.map((kind) => {
    const kept = [...within(query, 'accepted_at'), ...from(dialect, place, 'accepted_at', 'id')];
    const where = and([listed({ ...query, kinds: [kind] }), ...kept]);
    const sql = `SELECT * FROM (
      SELECT id, kind, accepted_at, sender, recipients${alsoMetadata(query, '')}
        FROM messaging_message${dialect.by('messaging_message_listing')}
        WHERE ${where.sql} ORDER BY accepted_at DESC, id DESC LIMIT ?) k`;
    return { sql, params: [...where.params, size] };
  });
  return {
    sql: `${ofKinds.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY accepted_at DESC, id DESC LIMIT ?`,
    params: [...ofKinds.flatMap(({ params }) => params), size],
  };
}

function sentTo(
  dialect: Dialect,
  query: MessageQuery,
  number: string,
  place: Place | undefined,
  size: number,
): Statement {
  const { accountId, channel } = query;
  // There is one look-up for each spelling of the number, each in the order of the index.
  const spelled = spellingsOf(number).map((spelling) => {
    const toNumber = { sql: 'account_id = ? AND channel = ? AND number = ?', params: [accountId, channel, spelling] };
    const where = and([toNumber, ...within(query, 'sent_at'), ...from(dialect, place, 'sent_at', 'message_id')]);
    const sql = `SELECT message_id, position, sent_at FROM messaging_sent_to
          WHERE ${where.sql} ORDER BY sent_at DESC, message_id DESC LIMIT ?`;
    return { sql, params: [...where.params, size] };
  });
  const [first] = spelled;
  const isOne = first !== undefined && spelled.length === 1;
  const all = spelled.map(({ sql }) => `SELECT * FROM (${sql}) k`).join(' UNION ALL ');
  return {
    params: isOne ? first.params : [...spelled.flatMap(({ params }) => params), size],
    sql: `SELECT m.id, m.kind, m.accepted_at, m.sender, s.position${alsoMetadata(query, 'm.')} FROM (
        ${isOne ? first.sql : `${all} ORDER BY sent_at DESC, message_id DESC LIMIT ?`}) s
      ${dialect.thenJoin} messaging_message m${dialect.by('primary key')} ON ${dialect.lookUp('m.id = s.message_id')}
      ORDER BY m.accepted_at DESC, m.id DESC`,
  };
}

/**
 * The column of the metadata. It is read only if metadata is searched for, because it may be longer than the rest of
 * the row.
 */
function alsoMetadata({ metadata }: MessageQuery, of: '' | 'm.'): string {
  return metadata === undefined ? '' : `, ${of}metadata`;
}

/** Finds the messages with a recipient in a state, as the account sees it, within the range to examine. */
function* withRecipientsIn(
  dialect: Dialect,
  { number }: MessageQuery,
  status: DeliveryStatus,
  messages: readonly Candidate[],
): Operation<ReadonlySet<string>> {
  if (messages.length === 0) return new Set();
  const seen = seenAs(status);
  const table = `messaging_recipient r${dialect.by('primary key')}`;
  const found = new Set<string>();
  if (number !== undefined) {
    const rows = yield* rowsOf(
      `SELECT v.message_id FROM ${dialect.rows({ message_id: 'id', position: 'integer' })}
        ${dialect.thenJoin} ${table} ON ${dialect.lookUp('r.message_id = v.message_id AND r.position = v.position')} WHERE ${seen.sql}`,
      JSON.stringify(messages.map(({ id, from: position }) => [id, position])),
      ...seen.params,
    );
    for (const row of rows) found.add(textOf(row, 'message_id'));
    return found;
  }
  const ends = messages.filter((_, index) => index === 0 || index === messages.length - 1);
  for (const { id, from: start, to } of ends) {
    const [row] = yield* rowsOf(
      `SELECT r.position FROM ${table}
        WHERE r.message_id = ? AND r.position >= ? AND r.position < ? AND ${seen.sql} ORDER BY r.position LIMIT 1`,
      id,
      start,
      to,
      ...seen.params,
    );
    if (row) found.add(id);
  }
  // Only the first and the last message may be examined in part. The query for the others has no range of positions: MariaDB
  // would ignore it and read each message to its end.
  const whole = messages.slice(1, -1);
  if (whole.length === 0) return found;
  const rows = yield* rowsOf(
    `SELECT v.message_id,
        (SELECT r.position FROM ${table} WHERE r.message_id = v.message_id AND ${seen.sql} ORDER BY r.position LIMIT 1) AS found
      FROM ${dialect.rows({ message_id: 'id' })}`,
    ...seen.params,
    JSON.stringify(whole.map(({ id }) => [id])),
  );
  for (const row of rows) if (row.found !== null) found.add(textOf(row, 'message_id'));
  return found;
}

/** The condition of a listing without filters. */
function listed({ accountId, channel, kinds }: Pick<MessageQuery, 'accountId' | 'channel' | 'kinds'>): Statement {
  const sql = `account_id = ? AND channel = ? AND kind IN (${kinds.map(() => '?').join(', ')})`;
  return { sql, params: [accountId, channel, ...kinds] };
}

function within({ since, until }: MessageQuery, column: string): Statement[] {
  return [
    ...(since === undefined ? [] : [{ sql: `${column} >= ?`, params: [since] }]),
    ...(until === undefined ? [] : [{ sql: `${column} < ?`, params: [until] }]),
  ];
}

function from(dialect: Dialect, place: Place | undefined, column: string, named: string): Statement[] {
  if (!place) return [];
  return [dialect.behind(column, place.at, place.id, { named, or: place.position === undefined ? '' : '=' })];
}
