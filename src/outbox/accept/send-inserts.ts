import { REPLIES, REPLY_KEY } from '../../accounts/replies.js';
import { FIRST_STATUS } from '../../events/delivery-status.js';
import { insertMarks } from '../../events/event-rows.js';
import { deliveryEvents } from '../../events/events-of.js';
import type { Dialect } from '../../storage/dialect.js';
import { RecordMovedError } from '../../storage/engine/faults.js';
import type { Operation, Statement } from '../../storage/engine/operation.js';
import { asTheyAre, type RowShape, shapeOf, slicesOf } from '../../storage/engine/rows.js';
import { isPersonal } from '../payload.js';
import type { Gaps } from '../policy/policy-records.js';
import { PARKED_QUEUE, parkedLane } from '../queue/parked.js';
import { type Priority } from '../queue/priority.api.js';
import { rankOf } from '../queue/priority.js';
import { scheduleValues } from '../schedule/schedule.js';
import { insertValidities } from '../schedule/validity.js';
import { dueTimesOf, firstDueOf, hasOwnTimes, isParked, TOGETHER } from './due-times.js';
import type { LaneTurns } from './lane-turns.js';
import { refusedTransitions } from './refusals.js';
import { costOf, type Recipient, type Send } from './send.js';

/**
 * The statements that write accepted sends: messages, recipients, charges, the replies under an Idempotency-Key, and marks of
 * refused recipients.
 * @param gaps `leave`: without the replies, which `insertNewReplies` writes
 */
export function insertSends(
  dialect: Dialect,
  sends: readonly Send[],
  turns: LaneTurns,
  gaps: Gaps = 'lock',
): Statement[] {
  const replies = gaps === 'lock' ? repliesOf(sends) : [];
  return [
    insertMessages(dialect, sends),
    ...insertRecipients(dialect, sends, turns),
    ...insertValidities(dialect, sends),
    dialect.insertRows({
      table: 'messaging_ledger',
      shape: CHARGE,
      rows: sends.map((send) => [send.id, send.accountId, 'charge', send.id, -costOf(send), send.at]),
    }),
    ...insertMarks(dialect, sends.flatMap(refusedTransitions).flatMap(deliveryEvents)),
    ...(replies.length > 0 ? [dialect.insertRows({ ...REPLIES, rows: replies, onDuplicate: REPLACE_EXPIRED })] : []),
  ];
}

function insertMessages(dialect: Dialect, sends: readonly Send[]): Statement {
  // Most batches have no metadata, no trace and no schedule, and those of the host's own code have no keys. Their
  // parameter leaves these columns out.
  const described = sends.some(({ metadata }) => metadata !== undefined);
  const keyed = sends.some(({ key }) => key !== undefined);
  const traced = sends.some(({ trace }) => trace !== undefined);
  const scheduled = sends.some(({ schedule }) => schedule !== undefined);
  return dialect.insertRows({
    table: 'messaging_message',
    shape: {
      ...(described ? DESCRIBED : MESSAGE),
      ...(keyed ? KEY : {}),
      ...(traced ? TRACE : {}),
      ...(scheduled ? SCHEDULE : {}),
    },
    rows: sends.map((send) => {
      const row: unknown[] = [
        send.id,
        send.accountId,
        send.channel,
        send.payload.kind,
        send.lane ?? null,
        send.sender,
        JSON.stringify(send.payload),
        costOf(send),
        0,
        send.recipients.length,
        send.at,
      ];
      // Spread operators would take several times as long.
      if (described) row.push(send.metadata === undefined ? null : JSON.stringify(send.metadata));
      if (keyed) row.push(send.key?.id ?? null);
      if (traced) row.push(send.trace ?? null);
      if (scheduled) row.push(...scheduleValues(send.schedule));
      return row;
    }),
  });
}

/**
 * Writes the replies of accepted sends under keys for which a plain read has found no reply.
 * @throws RecordMovedError if there is a reply after all: an expired one, or one that was committed since the snapshot
 * of a host's transaction
 */
export function* insertNewReplies(dialect: Dialect, sends: readonly Send[]): Operation<void> {
  const rows = repliesOf(sends);
  if (rows.length === 0) return;
  const written = yield* dialect.insertNew(dialect.insertRows({ ...REPLIES, rows }), REPLY_KEY);
  if (written !== rows.length) throw new RecordMovedError('A reply exists under this key.');
}

function repliesOf(sends: readonly Send[]): unknown[][] {
  return sends.flatMap(({ once, reply }) =>
    once ? [[once.accountId, once.route, once.key, once.fingerprint, JSON.stringify(reply), once.expiresAt]] : [],
  );
}

const MESSAGE = shapeOf(
  'id account_id channel kind lane sender payload',
  'units refunded_units recipients accepted_at',
);
const DESCRIBED: RowShape = { ...MESSAGE, metadata: 'text' };
const KEY: RowShape = { key_id: 'text' };
const TRACE: RowShape = { trace: 'text' };
const SCHEDULE: RowShape = { send_at: 'integer', valid_until: 'integer', delivery_window: 'text' };
const CHARGE = shapeOf('id account_id kind message_id', 'units posted_at');

// If there is a row, it has expired: an unexpired reply would have been replayed while the account was locked.
const REPLACE_EXPIRED = [REPLY_KEY, ['fingerprint', 'reply', 'expires_at']] as const;

/**
 * A send with more recipients than this has a statement of its own, so that its id is not repeated in the parameter for
 * each row.
 */
const LARGE = 50;

function isLarge({ recipients }: Send): boolean {
  return recipients.length > LARGE;
}

const LATER = `(v.position - v.position % ${TOGETHER}) / ${TOGETHER}`;

const FREE = shapeOf('message_id channel number', 'position priority units updated_at');
const REFUSED = shapeOf('message_id channel number error', 'position units updated_at');
const SENT_TO = shapeOf('account_id channel number message_id', 'sent_at position');
const NUMBERED: RowShape = { number: 'id', position: 'integer' };
const QUEUED: RowShape = { ...FREE, queue: 'text' };
const LANED: RowShape = { ...FREE, lane: 'text', lane_turn: 'integer' };
const LEASED: RowShape = { ...FREE, due_at: 'integer' };
const LEASED_VALUES = { ...asTheyAre(LEASED), refunded_units: '0', status: "'sending'", attempt: '1' };

/**
 * The statements that write the recipients of accepted sends. Those of a lane are written in the order of the sends.
 */
function insertRecipients(dialect: Dialect, sends: readonly Send[], turns: LaneTurns): Statement[] {
  const laned = sends.filter((send) => send.lane !== undefined && !isParked(send));
  const turnOf = new Map(laned.map((send) => [send.id, turns.next(send.at, priorityOf(send))]));
  const withRefused = new Set(sends.filter(({ recipients }) => recipients.some(isRefused)));
  const isWhole = (send: Send) => isLarge(send) && !withRefused.has(send) && !hasOwnTimes(send);
  const small = sends.filter((send) => !isWhole(send));
  return [
    ...sends.filter(isWhole).flatMap((send) => oneSend(dialect, send, turnOf.get(send.id))),
    ...refused(dialect, [...withRefused]),
    // Most sends have no lane, so their parameter leaves out the columns of lanes. The parameter of the others leaves
    // out the column of queues.
    ...manySends(
      dialect,
      small.filter((send) => send.leaseUntil === undefined && !turnOf.has(send.id) && !isParked(send)),
      QUEUED,
      ({ accountId }) => [accountId],
    ),
    ...manySends(
      dialect,
      small.filter(({ id }) => turnOf.has(id)),
      LANED,
      ({ id, lane }) => [lane, turnOf.get(id)],
    ),
    ...manySends(
      dialect,
      small.filter((send) => isParked(send)),
      { ...FREE, queue: 'text', lane: 'text' },
      ({ lane = '' }) => [PARKED_QUEUE, parkedLane(lane)],
    ),
    ...leasedSends(
      dialect,
      small.filter(({ leaseUntil }) => leaseUntil !== undefined),
    ),
    ...sentTo(
      dialect,
      sends.filter((send) => !isLarge(send) && isFoundByNumber(send)),
    ),
    ...sends.filter((send) => isLarge(send) && isFoundByNumber(send)).flatMap((send) => oneSentTo(dialect, send)),
  ];
}

function manySends(
  dialect: Dialect,
  sends: readonly Send[],
  shape: RowShape,
  more: (send: Send) => readonly unknown[],
): Statement[] {
  // Here only scheduled sends and large sends with refused recipients are not due when they are accepted.
  const inTurn = sends.some((send) => firstDueOf(send) !== send.at || hasOwnTimes(send));
  const withVars = sends.some(isPersonalSend);
  const rows: unknown[][] = [];
  for (const send of sends) {
    const { id, channel, at, recipients } = send;
    const rest = more(send);
    const rank = rankOf(priorityOf(send));
    const dueAt = inTurn ? dueTimesOf(send) : undefined;
    for (let position = 0; position < recipients.length; position++) {
      const recipient = recipients[position];
      if (recipient === undefined || isRefused(recipient)) continue;
      const row: unknown[] = [id, channel, recipient.number, position, rank, recipient.units, at];
      for (const value of rest) row.push(value);
      if (dueAt) row.push(dueAt(position));
      if (withVars) row.push(varsOf(recipient));
      rows.push(row);
    }
  }
  if (rows.length === 0) return [];
  const given: RowShape = {
    ...shape,
    ...(inTurn ? { due_at: 'integer' } : {}),
    ...(withVars ? { vars: 'text' } : {}),
  };
  const values = {
    due_at: 'v.updated_at',
    ...asTheyAre(given),
    refunded_units: '0',
    status: `'${FIRST_STATUS}'`,
    attempt: '0',
  };
  return [dialect.insertRows({ table: 'messaging_recipient', values, shape: given, rows })];
}

/** Writes the recipients of sends that this process delivers at once: as after a claim. */
function leasedSends(dialect: Dialect, sends: readonly Send[]): Statement[] {
  if (sends.length === 0) return [];
  const withVars = sends.some(isPersonalSend);
  const rows: unknown[][] = [];
  for (const send of sends) {
    const { id, channel, at, leaseUntil, recipients } = send;
    const rank = rankOf(priorityOf(send));
    for (let position = 0; position < recipients.length; position++) {
      const recipient = recipients[position];
      if (recipient === undefined) continue;
      const row: unknown[] = [id, channel, recipient.number, position, rank, recipient.units, at, leaseUntil];
      if (withVars) row.push(varsOf(recipient));
      rows.push(row);
    }
  }
  const shape: RowShape = withVars ? { ...LEASED, vars: 'text' } : LEASED;
  const values = withVars ? { ...LEASED_VALUES, vars: 'v.vars' } : LEASED_VALUES;
  return [dialect.insertRows({ table: 'messaging_recipient', values, shape, rows })];
}

function oneSend(dialect: Dialect, send: Send, turn: number | undefined): Statement[] {
  const { id, channel, lane, at, leaseUntil } = send;
  const [text, integer] = [dialect.typed('text'), dialect.typed('integer')];
  const withVars = isPersonalSend(send);
  const state = leaseUntil === undefined ? `'${FIRST_STATUS}', 0` : "'sending', 1";
  return slicesOf(send.recipients, dialect.maxRows).map(({ from, items }) => ({
    sql: `INSERT INTO messaging_recipient (
        message_id, channel, queue, lane, lane_turn, priority, due_at, updated_at, position, number, units, refunded_units, status, attempt${withVars ? ', vars' : ''})
      SELECT ${text}, ${text}, ${text}, ${text}, ${integer}, ${integer}, ${integer} + ${LATER}, ${integer},
        ${integer} + v.position, v.number, v.units, 0, ${state}${withVars ? ', v.vars' : ''} FROM ${dialect.numberedRecipients(withVars)}`,
    // The getter makes the JSON when the statement runs. So a large send does not make all of its JSON in one turn of the event loop.
    get params() {
      return [
        id,
        channel,
        queueOf(send),
        lane === undefined || turn !== undefined ? (lane ?? null) : parkedLane(lane),
        turn ?? null,
        rankOf(priorityOf(send)),
        (leaseUntil ?? firstDueOf(send)) + from / TOGETHER,
        at,
        from,
        JSON.stringify(
          withVars
            ? items.map((item) => [item.number, item.units, varsOf(item)])
            : items.map(({ number, units }) => [number, units]),
        ),
      ];
    },
  }));
}

/**
 * Indexes one large send by number. The rows are written in the order of numbers, because the table is stored in this
 * order. In the order of the send, each of 100 000 rows could be on another page, and a server with less memory than
 * the table needs would read and write a page for each row.
 */
function oneSentTo(dialect: Dialect, send: Send): Statement[] {
  const { id, accountId, channel, at } = send;
  const [text, integer] = [dialect.typed('text'), dialect.typed('integer')];
  // The rows are sorted in a subquery, because `Dialect.ifPaid` of PostgreSQL adds a WHERE at the end.
  const rows = `SELECT * FROM ${dialect.rows(NUMBERED)} ORDER BY v.number ${ALL_ROWS}`;
  return slicesOf(rowsByNumber(dialect, send), dialect.maxRows).map(({ items }) => ({
    sql: `INSERT INTO messaging_sent_to (account_id, channel, message_id, sent_at, number, position)
      SELECT ${text}, ${text}, ${text}, ${integer}, s.number, s.position FROM (${rows}) s`,
    get params() {
      return [accountId, channel, id, at, JSON.stringify(items.map(numberAndPosition))];
    },
  }));
}

/**
 * Without a limit, MariaDB and SQLite may leave out the ORDER BY of a subquery. This is the largest limit that all
 * databases accept.
 */
const ALL_ROWS = 'LIMIT 9223372036854775807';

/** A recipient's number and position. While many of them are sorted, they are one text, with a blank between them. */
type NumberAndPosition = string | readonly [number: string, position: number];

/**
 * The rows of a large send by number. They are sorted here only if they need several statements, because each of these sorts
 * its own rows only. Texts are sorted three times as fast as objects.
 */
function rowsByNumber({ maxRows }: Dialect, { recipients }: Send): NumberAndPosition[] {
  if (recipients.length <= maxRows) return recipients.map(({ number }, position) => [number, position]);
  return recipients.map(({ number }, position) => `${number} ${position}`).sort();
}

function numberAndPosition(row: NumberAndPosition): NumberAndPosition {
  if (typeof row !== 'string') return row;
  const blank = row.lastIndexOf(' ');
  return [row.slice(0, blank), Number(row.slice(blank + 1))];
}

/** The statements that index sends by number. */
function sentTo(dialect: Dialect, sends: readonly Send[]): Statement[] {
  if (sends.length === 0) return [];
  const rows: unknown[][] = [];
  for (const { id, accountId, channel, at, recipients } of sends) {
    for (let position = 0; position < recipients.length; position++) {
      rows.push([accountId, channel, recipients[position]?.number, id, at, position]);
    }
  }
  return [dialect.insertRows({ table: 'messaging_sent_to', shape: SENT_TO, rows })];
}

/** Whether an account can list the message. Codes are not listed. */
function isFoundByNumber({ payload }: Send): boolean {
  return payload.kind === 'text' || payload.kind === 'media';
}

/** The statements that store refused recipients as failed; they are never sent. */
function refused(dialect: Dialect, sends: readonly Send[]): Statement[] {
  if (sends.length === 0) return [];
  const rows = sends.flatMap((send) =>
    send.recipients.flatMap((recipient, position) =>
      isRefused(recipient)
        ? [[send.id, send.channel, recipient.number, recipient.refused, position, recipient.units, send.at]]
        : [],
    ),
  );
  const values = { ...asTheyAre(REFUSED), refunded_units: '0', status: "'failed'", attempt: '0' };
  return [dialect.insertRows({ table: 'messaging_recipient', values, shape: REFUSED, rows })];
}

function priorityOf({ priority = 'normal' }: Send): Priority {
  return priority;
}

/**
 * The queue of a send. A send with a lane has none, because lanes have an order of their own, unless it waits for its
 * time; neither has one with a lease.
 */
export function queueOf(send: Send): string {
  if (send.leaseUntil !== undefined) return '';
  if (send.lane === undefined) return send.accountId;
  return isParked(send) ? PARKED_QUEUE : '';
}

function isRefused({ refused: reason }: Recipient): boolean {
  return reason !== undefined;
}

function isPersonalSend({ payload }: Send): boolean {
  return isPersonal(payload);
}

function varsOf({ vars }: Recipient): string | null {
  return vars === undefined ? null : JSON.stringify(vars);
}
