import type { ReferredDelivery, TrailStep } from '../../outbox/outbox-store.js';
import type { TrailEntry } from '../../outbox/settlement.js';
import type { Dialect } from './dialect.js';
import { type Operation, rowsOf, type Statement } from './operation.js';
import { shapeOf } from './rows.js';
import { integerOf, textOf } from './values.js';

/** A delivery with what is to be kept of its way. */
interface Trailed {
  readonly messageId: string;
  readonly position: number;
  readonly trail: readonly TrailEntry[];
}

const SHAPE = shapeOf('message_id entry', 'position at place');

/** The statement that keeps the steps of deliveries; none when there are none. */
export function insertTrail(dialect: Dialect, deliveries: readonly Trailed[]): readonly Statement[] {
  const rows = deliveries.flatMap(({ messageId, position, trail }) =>
    trail.map((entry, place) => [messageId, JSON.stringify(entry), position, entry.at, place]),
  );
  if (rows.length === 0) return [];
  return [dialect.insertRows({ table: 'messaging_trail', shape: SHAPE, rows })];
}

/** The kept steps of a message's deliveries, oldest first. */
export function* listTrail(messageId: string): Operation<readonly TrailStep[]> {
  const rows = yield* rowsOf(
    'SELECT position, entry FROM messaging_trail WHERE message_id = ? ORDER BY at, place',
    messageId,
  );
  return rows.map((row) => ({ position: integerOf(row, 'position'), entry: JSON.parse(textOf(row, 'entry')) }));
}

/** The deliveries of a channel under the carrier's ids. */
export function* deliveriesByReference(
  dialect: Dialect,
  channel: string,
  references: readonly string[],
): Operation<readonly ReferredDelivery[]> {
  if (references.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT reference, message_id, position FROM messaging_recipient
      WHERE channel = ? AND reference IN ${dialect.strings()}`,
    ...[channel, JSON.stringify(references)],
  );
  return rows.map((row) => ({
    reference: textOf(row, 'reference'),
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
  }));
}
