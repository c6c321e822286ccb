import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, writeAll } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import { storedVars } from '../listing/recipients.js';
import type { ClaimOrder, Delivery } from '../outbox-records.js';
import { SCHEDULE_COLUMNS, storedSchedule } from '../schedule/schedule.js';
import { type HeldMessage, holdRow } from '../settle/held-rows.js';
import { byPriority, ClaimPlan } from './claim-plan.js';
import { PRIORITIES } from './priority.api.js';
import { priorityOf } from './priority.js';
import { QueueMemory } from './queue-memory.js';
import { findQueues, lockQueues } from './queues.js';

/**
 * Claims due deliveries for a worker: see `OutboxStore.claim`.
 * @param plan the plan of an order without lanes. Each claim needs a new one
 */
export function* claimDeliveries(
  dialect: Dialect,
  order: ClaimOrder,
  plan: ClaimPlan = new ClaimPlan(new QueueMemory(false), order),
): Operation<readonly Delivery[]> {
  const claimed = order.lanes ? yield* laneHeads(dialect, order, order.lanes) : yield* dueRows(dialect, order, plan);
  if (claimed.length === 0) return [];
  const deliveries = yield* withMessages(dialect, claimed, order);
  yield* lease(dialect, order, claimed);
  return deliveries;
}

/** Writes the lease of locked rows. */
function* lease(dialect: Dialect, order: ClaimOrder, claimed: readonly Row[]): Operation<void> {
  const table = 'messaging_recipient';
  const abandoned = claimed.some(isAbandoned);
  const set = {
    status: "'sending'",
    attempt: 'attempt + 1',
    queue: "''",
    due_at: '?',
    updated_at: '?',
    // A claimed delivery stays the first of its lane until it is complete.
    ...(order.lanes ? { lane_turn: '0' } : {}),
    ...(abandoned ? { doubtful: 'v.doubtful' } : {}),
  };
  const params = [order.leaseUntil, order.now];
  const places = claimed.flatMap((row) => optionalText(row, 'place') ?? []);
  if (dialect.updatePlaces && !abandoned && places.length === claimed.length) {
    const { affected } = yield { ...dialect.updatePlaces({ table, set, params, places }), endsTransaction: true };
    // Locked rows cannot disappear. If one did, it would have no lease, and must not be handed over.
    if (affected !== places.length) throw new Error(`A claim has locked ${places.length} rows and found ${affected}.`);
    return;
  }
  const update = dialect.updateRows({
    table,
    set,
    params,
    shape: { message_id: 'id', position: 'integer', ...(abandoned ? { doubtful: 'integer' } : {}) },
    rows: claimed.map((row) => {
      const key = [textOf(row, 'message_id'), integerOf(row, 'position')];
      return abandoned ? [...key, isDoubtful(row) ? 1 : null] : key;
    }),
    on: 'messaging_recipient.message_id = v.message_id AND messaging_recipient.position = v.position',
  });
  yield* writeAll([update], true);
}

/** Locks due rows as the plan says, until the batch is full or nothing more is due. */
function* dueRows(dialect: Dialect, { channel, now, except }: ClaimOrder, plan: ClaimPlan): Operation<readonly Row[]> {
  for (;;) {
    for (let places = plan.nextPlaces(); places.length > 0; places = plan.nextPlaces()) {
      plan.found(yield* findQueues(dialect, channel, places, now, plan.most));
    }
    const ranges = plan.nextRanges();
    if (ranges.length === 0) return plan.claimed;
    plan.locked(ranges, yield* lockQueues(dialect, channel, ranges, now, 'none', except));
  }
}

/**
 * Locks the first unsent delivery of each lane and returns those that are due. Later deliveries of a lane must not
 * overtake the first one.
 */
function* laneHeads(dialect: Dialect, order: ClaimOrder, lanes: readonly string[]): Operation<readonly Row[]> {
  const { channel, now, limit, abandoned, except = [] } = order;
  const heads = dialect.lockFirsts({
    columns: COLUMNS,
    table: 'messaging_recipient',
    key: ['message_id', 'position'],
    group: { channel: 'id', lane: 'text' },
    index: 'messaging_recipient_turn',
    order: ['lane_turn', 'message_id', 'position'],
    still: 'r.lane IS NOT NULL',
  });
  // The lanes are sorted, so that all transactions lock rows in the same order.
  const groups = [...new Set(lanes)].sort().map((lane) => [channel, lane]);
  const rows = yield* rowsOf(heads, JSON.stringify(groups));
  const due = rows.filter(
    (row) => integerOf(row, 'due_at') <= now && (abandoned || textOf(row, 'status') === 'queued'),
  );
  const wanted = except.length === 0 ? due : yield* ofOthers(dialect, due, except);
  return wanted.toSorted(byPriority).slice(0, limit);
}

/** Returns the rows without those of some accounts. */
function* ofOthers(dialect: Dialect, rows: readonly Row[], except: readonly string[]): Operation<readonly Row[]> {
  const ids = [...new Set(rows.map((row) => textOf(row, 'message_id')))];
  const messages = yield* rowsOf(
    `SELECT id FROM messaging_message WHERE id ${dialect.among()} AND account_id ${dialect.among()}`,
    JSON.stringify(ids),
    JSON.stringify(except),
  );
  const theirs = new Set(messages.map((row) => textOf(row, 'id')));
  return rows.filter((row) => !theirs.has(textOf(row, 'message_id')));
}

const COLUMNS = 'r.message_id, r.position, r.priority, r.number, r.attempt, r.status, r.doubtful, r.due_at';

/** Whether the lease of an earlier claim has ended without a result. */
function isAbandoned(row: Row): boolean {
  return textOf(row, 'status') === 'sending';
}

function isDoubtful(row: Row): boolean {
  return isAbandoned(row) || optionalInteger(row, 'doubtful') === 1;
}

/** The fields that the deliveries of a message have in common. */
type OfMessage = Omit<Delivery, 'position' | 'priority' | 'number' | 'vars' | 'attempt' | 'doubtful' | 'abandoned'>;

/** Adds the columns of the messages. Each message is read once, not once for each recipient. */
function* withMessages(
  dialect: Dialect,
  claimed: readonly Row[],
  { leaseUntil }: ClaimOrder,
): Operation<readonly Delivery[]> {
  const ids = [...new Set(claimed.map((row) => textOf(row, 'message_id')))];
  const rows = yield* rowsOf(
    `SELECT id, account_id, channel, lane, sender, payload, accepted_at, trace, units, recipients, metadata, ${SCHEDULE_COLUMNS.join(', ')}
      FROM messaging_message WHERE id ${dialect.among()}`,
    JSON.stringify(ids),
  );
  const messages = new Map(
    rows.map((row) => [textOf(row, 'id'), { message: toMessage(row), held: toHeldMessage(row) } as const]),
  );
  return claimed.flatMap((row) => {
    const found = messages.get(textOf(row, 'message_id'));
    if (!found) return [];
    const delivery = toDelivery(found.message, row);
    // The rows of lanes are read without these columns.
    const [units, storedAttempts] = [optionalInteger(row, 'units'), optionalInteger(row, 'tries')];
    if (dialect.hasOneWriter && units !== undefined && storedAttempts !== undefined) {
      holdRow({ delivery, leaseUntil, units, storedAttempts, message: found.held });
    }
    return [delivery];
  });
}

function toHeldMessage(row: Row): HeldMessage {
  const metadata = optionalText(row, 'metadata');
  return {
    recipients: integerOf(row, 'recipients'),
    units: integerOf(row, 'units'),
    metadata: metadata === undefined ? undefined : JSON.parse(metadata),
  };
}

function toMessage(row: Row): OfMessage {
  const message: OfMessage = {
    messageId: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    lane: optionalText(row, 'lane'),
    sender: textOf(row, 'sender'),
    payload: JSON.parse(textOf(row, 'payload')),
    acceptedAt: integerOf(row, 'accepted_at'),
  };
  const trace = optionalText(row, 'trace');
  const schedule = storedSchedule(row);
  const scheduled = schedule === undefined ? message : { ...message, schedule };
  return trace === undefined ? scheduled : { ...scheduled, trace };
}

function toDelivery(message: OfMessage, row: Row): Delivery {
  // The fields are written out, because with more than one spread operator a batch takes forty times as long here.
  const delivery = {
    messageId: message.messageId,
    position: integerOf(row, 'position'),
    accountId: message.accountId,
    channel: message.channel,
    lane: message.lane,
    priority: priorityOf(integerOf(row, 'priority')),
    sender: message.sender,
    payload: message.payload,
    number: textOf(row, 'number'),
    attempt: integerOf(row, 'attempt') + 1,
    acceptedAt: message.acceptedAt,
  };
  const { trace, schedule } = message;
  const vars = storedVars(row);
  const scheduled = schedule === undefined ? delivery : { ...delivery, schedule };
  const personal = vars === undefined ? scheduled : { ...scheduled, vars };
  const traced = trace === undefined ? personal : { ...personal, trace };
  if (isAbandoned(row)) return { ...traced, doubtful: true, abandoned: true };
  return isDoubtful(row) ? { ...traced, doubtful: true } : traced;
}

/** The maximum number of accounts between two remembered ones that a search for the next due time reads. */
const ACCOUNTS = 64;

/** The earliest time at which a delivery of a channel is due. */
export function* nextDueTime(dialect: Dialect, channel: string, memory: QueueMemory): Operation<number | undefined> {
  const places = PRIORITIES.flatMap((priority) => [
    ...memory.placesOf('queued', priority),
    ...memory.placesAhead('sending', priority),
    ...memory.placesAhead('sent', priority),
  ]);
  const found = (yield* findQueues(dialect, channel, places, Number.MAX_SAFE_INTEGER, ACCOUNTS)).flat();
  for (const queue of found) memory.foundAhead(queue, queue.due);
  const times = found.flatMap(({ due }) => due ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}
