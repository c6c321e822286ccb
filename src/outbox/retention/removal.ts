import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, write, writeAll } from '../../storage/engine/operation.js';
import { integerOf, type RowShape, textOf } from '../../storage/engine/rows.js';

/** A recipient, with the key of its row in `messaging_sent_to`. */
interface Removable {
  readonly messageId: string;
  readonly position: number;
  readonly number: string;
  readonly accountId: string;
  readonly channel: string;
  readonly acceptedAt: number;
}

/** The columns of {@link toRemovable}, of a recipient `r` and its message `m`. */
export const REMOVABLE = 'r.message_id, r.position, r.number, m.account_id, m.channel, m.accepted_at';

export function toRemovable(row: Row): Removable {
  return {
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    number: textOf(row, 'number'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    acceptedAt: integerOf(row, 'accepted_at'),
  };
}

const PLACE: RowShape = { message_id: 'id', position: 'integer' };
const SENT_TO: RowShape = { account_id: 'id', channel: 'id', number: 'id', sent_at: 'integer', message_id: 'id' };

/**
 * Removes the rows that belong to recipients: parts, trails, and the rows of `messaging_sent_to`. Parts come first,
 * because a receipt locks parts before recipients.
 */
function* removeBelongings(dialect: Dialect, recipients: readonly Removable[]): Operation<void> {
  const rows = recipients.map(({ messageId, position }) => [messageId, position]);
  const ofPlace = (table: string) => ({ table, shape: PLACE, rows, on: isAt(table) });
  const sentTo = recipients.map(({ accountId, channel, number, acceptedAt, messageId }) => {
    return [accountId, channel, number, acceptedAt, messageId];
  });
  yield* writeAll(
    [
      dialect.deleteRows(ofPlace('messaging_sms_part')),
      dialect.deleteRows({ ...ofPlace('messaging_trail'), index: 'messaging_trail_attempt' }),
      dialect.deleteRows({
        table: 'messaging_sent_to',
        shape: SENT_TO,
        rows: sentTo,
        on: Object.keys(SENT_TO)
          .map((column) => `messaging_sent_to.${column} = v.${column}`)
          .join(' AND '),
      }),
    ],
    false,
  );
}

/** Removes recipients and what belongs to them. */
export function* removeRecipients(dialect: Dialect, recipients: readonly Removable[]): Operation<void> {
  if (recipients.length === 0) return;
  yield* removeBelongings(dialect, recipients);
  const table = 'messaging_recipient';
  const rows = recipients.map(({ messageId, position }) => [messageId, position]);
  yield dialect.deleteRows({ table, shape: PLACE, rows, on: isAt(table) });
}

/** Removes the number, the error, the values of a personal text and the history of recipients; their states and units stay. */
export function* maskRecipients(dialect: Dialect, recipients: readonly Removable[], mask: string): Operation<void> {
  if (recipients.length === 0) return;
  yield* removeBelongings(dialect, recipients);
  yield dialect.updateRows({
    table: 'messaging_recipient',
    // The error and the reference are texts of carriers, which may quote the number.
    set: { number: '?', error: 'NULL', reference: 'NULL', tries: '0', vars: 'NULL' },
    params: [mask],
    shape: PLACE,
    rows: recipients.map(({ messageId, position }) => [messageId, position]),
    on: isAt('messaging_recipient'),
  });
}

function isAt(table: string): string {
  return `${table}.message_id = v.message_id AND ${table}.position = v.position`;
}

/** Replaces payloads of messages, and removes their metadata. */
export function* replacePayloads(
  dialect: Dialect,
  payloads: readonly (readonly [id: string, payload: object])[],
  more: Readonly<Record<string, number>> = {},
): Operation<void> {
  if (payloads.length === 0) return;
  yield dialect.updateRows({
    table: 'messaging_message',
    set: {
      payload: 'v.payload',
      metadata: 'NULL',
      ...Object.fromEntries(Object.keys(more).map((column) => [column, '?'])),
    },
    params: Object.values(more),
    shape: { id: 'id', payload: 'text' },
    rows: payloads.map(([id, payload]) => [id, JSON.stringify(payload)]),
    on: 'messaging_message.id = v.id',
  });
}

/** Removes records of policies by their keys. */
export function* removeRecords(dialect: Dialect, keys: readonly string[]): Operation<number> {
  if (keys.length === 0) return 0;
  return yield* write(`DELETE FROM messaging_policy WHERE id ${dialect.among()}`, JSON.stringify([...keys].sort()));
}
