import { type Page, type PageRequest, withinPage } from '../../common/listing/page.js';
import type { Metadata } from '../../events/events.api.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { integerOf, optionalText, textOf } from '../../storage/engine/rows.js';
import { readPage } from '../../storage/read-page.js';
import { FIRST_RECIPIENTS, type MessagePage, type StoredMessage } from '../outbox-records.js';
import { SCHEDULE_COLUMNS, storedSchedule } from '../schedule/schedule.js';

const MESSAGE = `id, account_id, channel, lane, sender, payload, metadata, units, refunded_units, recipients, accepted_at, ${SCHEDULE_COLUMNS.join(', ')}`;

/** The approximate size of a listed message in bytes, in SQL: its texts, its first numbers, and 500 for the rest. */
const BYTES = `octet_length(payload) + coalesce(octet_length(metadata), 0) + 500
  + 20 * CASE WHEN recipients < ${FIRST_RECIPIENTS} THEN recipients ELSE ${FIRST_RECIPIENTS} END`;

/** One message of an account. */
export function* findMessage(accountId: string, channel: string, id: string): Operation<StoredMessage | undefined> {
  const [row] = yield* rowsOf(
    `SELECT ${MESSAGE} FROM messaging_message WHERE id = ? AND account_id = ? AND channel = ?`,
    id,
    accountId,
    channel,
  );
  return row && toMessage(row);
}

/** Reads the messages of a page by their ids and in their order, as many as fit into `MAX_PAGE_BYTES`. */
export function* findMessages(dialect: Dialect, page: MessagePage<string>): Operation<MessagePage> {
  const { items: ids } = page;
  if (ids.length === 0) return { ...page, items: [] };
  const find = (columns: string, found: readonly string[]) =>
    rowsOf(`SELECT ${columns} FROM messaging_message WHERE id ${dialect.among()}`, JSON.stringify(found));
  const bytes = new Map((yield* find(`id, ${BYTES} AS bytes`, ids)).map((row) => [row.id, integerOf(row, 'bytes')]));
  const fitting = withinPage(ids, (id) => bytes.get(id) ?? 0);
  const messages = new Map((yield* find(MESSAGE, fitting)).map((row) => [textOf(row, 'id'), toMessage(row)]));
  const items = fitting.flatMap((id) => messages.get(id) ?? []);
  return fitting.length < ids.length ? { items, next: fitting.at(-1) } : { ...page, items };
}

/** Reads a page of messages. `shown` are further conditions, which the message of `page.after` need not meet. */
export function listAll(
  dialect: Dialect,
  filters: readonly Statement[],
  shown: readonly Statement[],
  page: PageRequest,
): Operation<Page<StoredMessage>> {
  const table = 'messaging_message';
  const moment = 'accepted_at';
  return readPage(dialect, { table, columns: MESSAGE, bytes: BYTES, moment, filters, shown, toItem: toMessage }, page);
}

function toMessage(row: Row): StoredMessage {
  const schedule = storedSchedule(row);
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    lane: optionalText(row, 'lane'),
    sender: textOf(row, 'sender'),
    payload: JSON.parse(textOf(row, 'payload')),
    metadata: storedMetadata(row),
    units: integerOf(row, 'units'),
    refundedUnits: integerOf(row, 'refunded_units'),
    recipients: integerOf(row, 'recipients'),
    acceptedAt: integerOf(row, 'accepted_at'),
    ...(schedule && { schedule }),
  };
}

/** See `OutboxStore.traces`. */
export function* listTraces(dialect: Dialect, ids: readonly string[]): Operation<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT trace FROM messaging_message WHERE id ${dialect.among()} AND trace IS NOT NULL`,
    JSON.stringify(ids),
  );
  return rows.map((row) => textOf(row, 'trace'));
}

/** The metadata of a message. */
export function storedMetadata(row: Row): Metadata | undefined {
  const text = optionalText(row, 'metadata');
  return text === undefined ? undefined : JSON.parse(text);
}
