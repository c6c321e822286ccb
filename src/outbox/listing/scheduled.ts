import { MessagingError } from '../../common/errors.js';
import type { Page } from '../../common/listing/page.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import type { MessageQuery, StoredMessage } from '../outbox-records.js';
import { findMessages } from './messages.js';

/**
 * Lists the messages whose `send_at` is later than `dueAfter` and of which a recipient still waits, the next one first.
 * The units show that a message was canceled as a whole, so its recipients need not be read.
 */
export function* listScheduled(
  dialect: Dialect,
  { accountId, channel, kinds, limit, after }: MessageQuery,
  dueAfter: number,
): Operation<Page<StoredMessage>> {
  const place = after === undefined ? { at: dueAfter, id: '' } : yield* placeOf(accountId, channel, after);
  const rows = yield* rowsOf(
    `SELECT m.id FROM messaging_message m${dialect.by('messaging_message_scheduled')}
      WHERE m.account_id = ? AND m.channel = ? AND m.send_at >= ? AND (m.send_at > ? OR m.id > ?) AND m.send_at > ?
        AND m.kind IN (${kinds.map(() => '?').join(', ')}) AND m.removed_at IS NULL
        AND (m.refunded_units < m.units OR m.units = 0)
        AND EXISTS (SELECT 1 FROM messaging_recipient r WHERE r.message_id = m.id AND r.status = 'queued')
      ORDER BY m.send_at, m.id LIMIT ?`,
    accountId,
    channel,
    place.at,
    place.at,
    place.id,
    dueAfter,
    ...kinds,
    limit + 1,
  );
  const ids = rows.map((row) => textOf(row, 'id'));
  const next = ids.length > limit ? ids[limit - 1] : undefined;
  return yield* findMessages(dialect, { items: ids.slice(0, limit), next });
}

/**
 * The place of the message of a cursor. If it was moved since, the listing goes on at its new time.
 * @throws MessagingError `error.invalid_cursor` if the account has no such message with a time
 */
function* placeOf(
  accountId: string,
  channel: string,
  id: string,
): Operation<{ readonly at: number; readonly id: string }> {
  const [row] = yield* rowsOf(
    `SELECT send_at FROM messaging_message
      WHERE id = ? AND account_id = ? AND channel = ? AND send_at IS NOT NULL`,
    id,
    accountId,
    channel,
  );
  if (!row) throw new MessagingError('error.invalid_cursor');
  return { at: integerOf(row, 'send_at'), id };
}
