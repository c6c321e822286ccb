import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../../storage/engine/rows.js';
import { type AttemptEntry, countAttempts, isAttempt, type TrailEntry } from '../delivery-state.js';
import type { ReferredDelivery, TrailStep } from '../outbox-records.js';

/** A delivery with new entries of its trail. */
interface Trailed {
  readonly messageId: string;
  readonly position: number;
  /** The number of attempts in its trail, including those in `trail`. */
  readonly storedAttempts: number;
  readonly trail: readonly TrailEntry[];
}

const SHAPE = shapeOf('message_id entry', 'position at place tried');

/** The statement that stores trail entries, if there are any. Attempts are numbered from 1. */
export function insertTrail(dialect: Dialect, deliveries: readonly Trailed[]): readonly Statement[] {
  const rows: unknown[][] = [];
  for (const { messageId, position, storedAttempts, trail } of deliveries) {
    let attempt = storedAttempts - countAttempts(trail);
    for (const [place, entry] of trail.entries()) {
      if (isAttempt(entry)) attempt++;
      rows.push([messageId, JSON.stringify(entry), position, entry.at, place, isAttempt(entry) ? attempt : null]);
    }
  }
  if (rows.length === 0) return [];
  return [dialect.insertRows({ table: 'messaging_trail', shape: SHAPE, rows })];
}

/** A recipient whose newest attempts are read. */
interface Attempted {
  readonly position: number;
  /** The number of attempts in its trail. */
  readonly storedAttempts: number;
}

/**
 * The newest attempts of some recipients of a message, at most `most` of each, oldest first, by the recipient's
 * position. Attempts are read by their numbers, so other entries are not read.
 */
export function* newestAttempts(
  dialect: Dialect,
  messageId: string,
  recipients: readonly Attempted[],
  most: number,
): Operation<ReadonlyMap<number, readonly AttemptEntry[]>> {
  const wanted = recipients.flatMap(({ position, storedAttempts }) => {
    const shown = Math.min(storedAttempts, most);
    return Array.from({ length: shown }, (_, index) => [messageId, position, storedAttempts - shown + 1 + index]);
  });
  const found = new Map<number, AttemptEntry[]>();
  if (wanted.length === 0) return found;
  const rows = yield* rowsOf(
    `SELECT t.position, t.entry FROM ${dialect.rows({ message_id: 'id', position: 'integer', tried: 'integer' })}
      ${dialect.thenJoin} messaging_trail t${dialect.by('messaging_trail_attempt')}
      ON ${dialect.lookUp('t.message_id = v.message_id AND t.position = v.position AND t.tried = v.tried')}
      ORDER BY t.position, t.tried`,
    JSON.stringify(wanted),
  );
  for (const row of rows) {
    const position = integerOf(row, 'position');
    const entry: AttemptEntry = JSON.parse(textOf(row, 'entry'));
    const before = found.get(position);
    if (before) before.push(entry);
    else found.set(position, [entry]);
  }
  return found;
}

/** The stored trail of a message's deliveries, oldest first. */
export function* listTrail(messageId: string): Operation<readonly TrailStep[]> {
  const rows = yield* rowsOf(
    'SELECT position, entry FROM messaging_trail WHERE message_id = ? ORDER BY at, place',
    messageId,
  );
  return rows.map((row) => ({ position: integerOf(row, 'position'), entry: JSON.parse(textOf(row, 'entry')) }));
}

/** The stored trails of messages' first recipients, oldest first. */
export function* firstTrails(
  dialect: Dialect,
  messageIds: readonly string[],
): Operation<ReadonlyMap<string, readonly TrailEntry[]>> {
  const rows = yield* rowsOf(
    `SELECT message_id, entry FROM messaging_trail${dialect.by('messaging_trail_attempt')}
      WHERE message_id ${dialect.among()} AND position = 0 ORDER BY at, place`,
    JSON.stringify(messageIds),
  );
  const trails = new Map<string, TrailEntry[]>(messageIds.map((id) => [id, []]));
  for (const row of rows) trails.get(textOf(row, 'message_id'))?.push(JSON.parse(textOf(row, 'entry')));
  return trails;
}

/** The deliveries of a channel by the carrier's ids. */
export function* deliveriesByReference(
  dialect: Dialect,
  channel: string,
  references: readonly string[],
): Operation<readonly ReferredDelivery[]> {
  if (references.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT r.reference, r.message_id, r.position FROM ${dialect.rows({ channel: 'id', reference: 'id' })}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('messaging_recipient_reference')}
      ON ${dialect.lookUp('r.channel = v.channel AND r.reference = v.reference')}`,
    JSON.stringify(references.map((reference) => [channel, reference])),
  );
  return rows.map((row) => ({
    reference: textOf(row, 'reference'),
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
  }));
}
