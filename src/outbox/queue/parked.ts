import type { Dialect } from '../../storage/dialect.js';
import { type Operation, rowsOf, writeAll } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import { laneTurnAt } from '../accept/lane-turns.js';
import { PRIORITIES } from './priority.api.js';
import { priorityOf, rankOf } from './priority.js';
import { findQueues, lockQueues, type Place } from './queues.js';

/**
 * The queue of the deliveries of lanes that are not due yet. The first delivery of a lane holds up the later ones, so a
 * delivery that waits for its time is not in its lane: it is parked under another lane name, which no claim names. When
 * it is due, it enters its lane at the place of its time.
 */
export const PARKED_QUEUE = '~';

/** The lane name of parked deliveries. It sorts after the names of lanes, so that a search for lanes can leave it out. */
export function parkedLane(lane: string): string {
  return `${PARKED}${lane}`;
}

/** The first character of the names of `parkedLane`. */
export const PARKED = '~';

/** The maximum number of deliveries that enter their lanes in one transaction. */
const ENTERING = 500;

/**
 * Moves due parked deliveries of a channel into their lanes.
 * @param now milliseconds since the epoch
 * @returns whether more may be due
 */
export function* enterLanes(dialect: Dialect, channel: string, now: number): Operation<boolean> {
  const places = PRIORITIES.map(
    (priority): Place => ({ status: 'queued', priority: rankOf(priority), from: PARKED_QUEUE }),
  );
  const found = (yield* findQueues(dialect, channel, places, now, 1)).flat();
  const ranges = found.flatMap(({ due, ...queue }) =>
    due === undefined ? [] : [{ ...queue, floor: due, take: ENTERING }],
  );
  if (ranges.length === 0) return false;
  const rows = yield* lockQueues(dialect, channel, ranges, now, 'any');
  if (rows.length === 0) return false;
  const ids = [...new Set(rows.map((row) => textOf(row, 'message_id')))];
  const messages = yield* rowsOf(
    `SELECT id, lane FROM messaging_message WHERE id ${dialect.among()}`,
    JSON.stringify(ids),
  );
  const lanes = new Map(messages.map((row) => [textOf(row, 'id'), textOf(row, 'lane')]));
  const update = dialect.updateRows({
    table: 'messaging_recipient',
    set: { lane: 'v.lane', lane_turn: 'v.turn', queue: "''" },
    shape: { message_id: 'id', lane: 'text', position: 'integer', turn: 'integer' },
    rows: rows.map((row) => {
      const messageId = textOf(row, 'message_id');
      const turn = laneTurnAt(integerOf(row, 'due_at'), priorityOf(integerOf(row, 'priority')));
      return [messageId, lanes.get(messageId) ?? null, integerOf(row, 'position'), turn];
    }),
    on: 'messaging_recipient.message_id = v.message_id AND messaging_recipient.position = v.position',
  });
  yield* writeAll([update], true);
  return rows.length >= ENTERING;
}
