import type { ClaimOrder, Delivery } from '../../../../outbox/outbox-store.js';
import type { Dialect } from '../../dialects/dialect.js';
import { type Operation, type Row, rowsOf, writeAll } from '../../engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../engine/rows.js';

/** Claims due deliveries for a worker: see `OutboxStore.claim`. */
export function* claimDeliveries(dialect: Dialect, order: ClaimOrder): Operation<readonly Delivery[]> {
  const claimed = order.lanes ? yield* laneHeads(dialect, order, order.lanes) : yield* dueRows(dialect, order);
  if (claimed.length === 0) return [];
  const deliveries = yield* withMessages(dialect, claimed);
  const abandoned = claimed.some(isAbandoned);
  const keys = claimed.map((row) => {
    const key = [textOf(row, 'message_id'), integerOf(row, 'position')];
    return abandoned ? [...key, isDoubtful(row) ? 1 : null] : key;
  });
  const update = dialect.updateRows({
    table: 'messaging_recipient',
    set: {
      status: "'sending'",
      attempt: 'attempt + 1',
      due_at: '?',
      updated_at: '?',
      // It stays first in its lane until it is done.
      ...(order.lanes ? { lane_turn: '0' } : {}),
      ...(abandoned ? { doubtful: 'v.doubtful' } : {}),
    },
    params: [order.leaseUntil, order.now],
    shape: { message_id: 'id', position: 'integer', ...(abandoned ? { doubtful: 'integer' } : {}) },
    rows: keys,
    on: 'messaging_recipient.message_id = v.message_id AND messaging_recipient.position = v.position',
  });
  yield* writeAll([update], true);
  return deliveries;
}

/**
 * Locks due rows with one query for each state. Each reads a range of the index in the order of `due_at`; one query for both
 * states would sort, and lock, all due rows.
 */
function* dueRows(dialect: Dialect, { channel, now, limit, abandoned }: ClaimOrder): Operation<readonly Row[]> {
  const due: Row[] = [];
  for (const status of abandoned ? ['queued', 'sending'] : ['queued']) {
    due.push(
      ...(yield* rowsOf(
        `SELECT ${COLUMNS}, r.due_at FROM messaging_recipient r${dialect.by('messaging_recipient_due')}
          WHERE r.channel = ? AND r.status = ? AND r.due_at <= ? AND r.lane IS NULL
          ORDER BY r.due_at LIMIT ?${dialect.lock('r', 'skip')}`,
        channel,
        status,
        now,
        limit,
      )),
    );
  }
  return oldestDue(due, limit);
}

function oldestDue(rows: readonly Row[], limit: number): readonly Row[] {
  return [...rows].sort((a, b) => integerOf(a, 'due_at') - integerOf(b, 'due_at')).slice(0, limit);
}

/** Locks the first unsent delivery of each lane and returns those that are due; later ones must not overtake it. */
function* laneHeads(dialect: Dialect, order: ClaimOrder, lanes: readonly string[]): Operation<readonly Row[]> {
  const { channel, now, limit, abandoned } = order;
  const heads = dialect.lockFirsts({
    columns: `${COLUMNS}, r.due_at`,
    table: 'messaging_recipient',
    key: ['message_id', 'position'],
    group: { channel: 'id', lane: 'text' },
    index: 'messaging_recipient_turn',
    order: ['lane_turn', 'message_id', 'position'],
    still: 'r.lane IS NOT NULL',
  });
  // Sorted, so that all transactions lock rows in the same order.
  const wanted = [...new Set(lanes)].sort().map((lane) => [channel, lane]);
  const rows = yield* rowsOf(heads, JSON.stringify(wanted));
  const due = rows.filter(
    (row) => integerOf(row, 'due_at') <= now && (abandoned || textOf(row, 'status') === 'queued'),
  );
  return oldestDue(due, limit);
}

const COLUMNS = 'r.message_id, r.position, r.number, r.attempt, r.status, r.doubtful';

/** Whether a worker has claimed it before and its lease has ended without a result. */
function isAbandoned(row: Row): boolean {
  return textOf(row, 'status') === 'sending';
}

function isDoubtful(row: Row): boolean {
  return isAbandoned(row) || optionalInteger(row, 'doubtful') === 1;
}

/** Adds the columns of the messages, each read once instead of once a recipient. */
function* withMessages(dialect: Dialect, claimed: readonly Row[]): Operation<readonly Delivery[]> {
  const ids = [...new Set(claimed.map((row) => textOf(row, 'message_id')))];
  const rows = yield* rowsOf(
    `SELECT id, account_id, channel, lane, sender, payload, accepted_at FROM messaging_message WHERE id IN ${dialect.strings()}`,
    JSON.stringify(ids),
  );
  const messages = new Map(
    rows.map((row) => [
      textOf(row, 'id'),
      {
        messageId: textOf(row, 'id'),
        accountId: textOf(row, 'account_id'),
        channel: textOf(row, 'channel'),
        lane: optionalText(row, 'lane'),
        sender: textOf(row, 'sender'),
        payload: JSON.parse(textOf(row, 'payload')),
        acceptedAt: integerOf(row, 'accepted_at'),
      },
    ]),
  );
  return claimed.flatMap((row) => {
    const message = messages.get(textOf(row, 'message_id'));
    const position = integerOf(row, 'position');
    return message
      ? [
          {
            ...message,
            position,
            number: textOf(row, 'number'),
            attempt: integerOf(row, 'attempt') + 1,
            ...(isDoubtful(row) ? { doubtful: true } : {}),
          },
        ]
      : [];
  });
}

/** The earliest time at which a delivery of a channel is due. */
export function* nextDueTime(dialect: Dialect, channel: string): Operation<number | undefined> {
  const first = (status: string) =>
    `(SELECT due_at FROM messaging_recipient${dialect.by('messaging_recipient_due')}
      WHERE channel = ? AND status = '${status}' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1) AS ${status}`;
  const [row] = yield* rowsOf(`SELECT ${WAITING.map(first).join(', ')}`, ...WAITING.map(() => channel));
  const times = row ? WAITING.flatMap((status) => optionalInteger(row, status) ?? []) : [];
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** The states in which a delivery has a `due_at`. */
const WAITING = ['queued', 'sending', 'sent'] as const;
