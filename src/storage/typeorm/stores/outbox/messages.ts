import type { Page, PageRequest } from '../../../../common/page.js';
import type { Metadata } from '../../../../events/event-types.js';
import type { StoredMessage } from '../../../../outbox/outbox-store.js';
import type { Dialect } from '../../dialects/dialect.js';
import { type Operation, type Row, rowsOf, type Statement } from '../../engine/operation.js';
import { integerOf, optionalText, textOf } from '../../engine/rows.js';
import { readPage } from '../read-page.js';

const MESSAGE =
  'id, account_id, channel, lane, sender, payload, metadata, units, refunded_units, recipients, accepted_at';

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

/** Messages by their ids, in the order of the ids. */
export function* findMessages(dialect: Dialect, ids: readonly string[]): Operation<readonly StoredMessage[]> {
  if (ids.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT ${MESSAGE} FROM messaging_message WHERE id IN ${dialect.strings()}`,
    JSON.stringify(ids),
  );
  const messages = new Map(rows.map((row) => [textOf(row, 'id'), toMessage(row)]));
  return ids.flatMap((id) => messages.get(id) ?? []);
}

/** A page of messages; `shown` are further conditions, which the row that `page.after` names need not meet. */
export function listAll(
  dialect: Dialect,
  filters: readonly Statement[],
  shown: readonly Statement[],
  page: PageRequest,
): Operation<Page<StoredMessage>> {
  const listing = { table: 'messaging_message', columns: MESSAGE, moment: 'accepted_at', toItem: toMessage };
  return readPage(dialect, { ...listing, filters, shown }, page);
}

function toMessage(row: Row): StoredMessage {
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
  };
}

/** See `OutboxStore.traces`. */
export function* listTraces(dialect: Dialect, ids: readonly string[]): Operation<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT trace FROM messaging_message WHERE id IN ${dialect.strings()} AND trace IS NOT NULL`,
    JSON.stringify(ids),
  );
  return rows.map((row) => textOf(row, 'trace'));
}

/** The metadata of a message. */
export function storedMetadata(row: Row): Metadata | undefined {
  const text = optionalText(row, 'metadata');
  return text === undefined ? undefined : JSON.parse(text);
}
