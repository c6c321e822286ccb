import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';
import { CHANGING, UNHURRIED } from '../storage/schema/upkeep.js';

/**
 * Makes PostgreSQL analyse the table again after a fiftieth of it has changed, because a query plan for an empty queue
 * is wrong for a full one.
 */
const COUNTED = { autovacuum_analyze_scale_factor: 0.02 };

/** The tables of messages, recipients and the history of deliveries, and those that sends and claims depend on. */
export function outboxTables(dialect: Dialect): string[] {
  return [...messages(dialect), ...sendRules(dialect), ...operation(dialect)];
}

function messages(dialect: Dialect): string[] {
  const { id, name, text, integer, small, serial } = columnTypes(dialect);
  return [
    // One row per send. units: the charge, which never changes. recipients: their number. key_id: the key that sent it;
    // null if a user or the host's own code did. metadata: JSON, null if the send had none. trace: W3C traceparent,
    // null if the accept was not recorded. settled: how many recipients need no further attempt or report; counted
    // while the account's event log is on. settled_since: `messaging_event_counter.began` at the time of that count. A
    // count of an earlier recording has missed some recipients, so it is not continued. removed_at: when the removal of
    // its recipients began. send_at, valid_until, delivery_window: see `Schedule`; null for most sends. delivery_window: JSON.
    `CREATE TABLE messaging_message (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, kind ${id} NOT NULL,
      lane ${name}, sender ${name} NOT NULL, payload ${text} NOT NULL, units ${integer} NOT NULL,
      refunded_units ${integer} NOT NULL, recipients ${integer} NOT NULL DEFAULT 1, accepted_at ${integer} NOT NULL,
      key_id ${id}, metadata ${text}, trace ${text}, settled ${integer}, settled_since ${integer}, removed_at ${integer},
      send_at ${integer}, valid_until ${integer}, delivery_window ${text})`,
    'CREATE INDEX messaging_message_listing ON messaging_message (account_id, channel, kind, accepted_at, id)',
    `CREATE INDEX messaging_message_scheduled ON messaging_message (account_id, channel, send_at, id)${dialect.indexedOnly('send_at')}`,
    // A refund changes its message once, and changes no indexed column.
    ...dialect.upkeep('messaging_message', { fillfactor: 95, ...CHANGING }),

    // One row per recipient.
    // due_at: the time of the next attempt, the end of the worker's lease or the deadline of a report; null: never.
    // lane: null once no further attempt is needed; see `parkedLane` for deliveries that wait for their time.
    // lane_turn: the position of its send in the lane, smallest first (`PriorityTurns`); 0 from the first attempt on, so that no
    //   later recipient overtakes it.
    // queue: the account while the recipient waits for an attempt and has no lane, and `PARKED_QUEUE` while it waits for its
    //   time outside its lane; otherwise '', so that leases and deadlines are found in the order of time.
    // attempt: the number of attempts begun.
    // tries: the number of attempts in the trail. An attempt that tried several carriers has stored several.
    // doubtful: 1 if the carrier may have accepted one.
    // priority: see `rankOf`.
    // vars: the values of the variables of a personal text, JSON; null if the text is the same for all recipients, or if the
    //   values were removed.
    `CREATE TABLE messaging_recipient (
      message_id ${id} NOT NULL, position ${integer} NOT NULL, channel ${id} NOT NULL, lane ${name}, lane_turn ${integer},
      number ${id} NOT NULL, units ${integer} NOT NULL, refunded_units ${integer} NOT NULL, status ${id} NOT NULL,
      priority ${small} NOT NULL DEFAULT 0, queue ${id} NOT NULL DEFAULT '', attempt ${integer} NOT NULL,
      tries ${integer} NOT NULL DEFAULT 0, doubtful ${integer}, due_at ${integer}, error ${text}, reference ${name},
      updated_at ${integer} NOT NULL, vars ${text}, PRIMARY KEY (message_id, position))${dialect.clustered}`,
    // By status, so that a search for due attempts does not read recipients that wait for a report, and the reverse. One
    // index for both, because MariaDB has no partial indexes.
    `CREATE INDEX messaging_recipient_queue ON messaging_recipient (channel, status, priority, queue, due_at)${dialect.indexedOnly('due_at')}`,
    `CREATE INDEX messaging_recipient_turn ON messaging_recipient (channel, lane, lane_turn, message_id, position)${dialect.indexedOnly('lane')}`,
    `CREATE INDEX messaging_recipient_reference ON messaging_recipient (channel, reference)${dialect.indexedOnly('reference')}`,
    // The pages have no free space. Each change is one of an indexed column, so free space would save nothing
    // (measured).
    ...dialect.upkeep('messaging_recipient', { ...CHANGING, ...UNHURRIED, ...COUNTED }),

    // One row per recipient of a text, to find messages by number. This is a table instead of an index on the
    // recipients, because their rows change several times, and PostgreSQL writes all indexes of a row at each change.
    `CREATE TABLE messaging_sent_to (
      account_id ${id} NOT NULL, channel ${id} NOT NULL, number ${id} NOT NULL, sent_at ${integer} NOT NULL,
      message_id ${id} NOT NULL, position ${integer} NOT NULL,
      PRIMARY KEY (account_id, channel, number, sent_at, message_id))${dialect.clustered}`,

    // One row per send whose recipients must be handed over by a time. due_at: this time, or later if a worker had claimed one
    // of them then. position: the recipients before it were examined. again: 1 if a worker had claimed one of these. A row is
    // removed after its time. This is a table instead of an index on the messages, because MariaDB has no partial indexes,
    // and a send without validity must not pay for it.
    `CREATE TABLE messaging_validity (
      due_at ${integer} NOT NULL, message_id ${id} NOT NULL, position ${integer} NOT NULL, again ${small} NOT NULL,
      PRIMARY KEY (due_at, message_id))${dialect.clustered}`,
    ...dialect.upkeep('messaging_validity', CHANGING),

    // The history of a delivery: states and tried carriers. Rows are only added. Two entries may be equal except for
    // their ids. tried: the number of the attempt, from 1; null for an entry that is not an attempt.
    `CREATE TABLE messaging_trail (
      id ${serial} PRIMARY KEY, message_id ${id} NOT NULL, position ${integer} NOT NULL, at ${integer} NOT NULL,
      place ${integer} NOT NULL, tried ${integer}, entry ${text} NOT NULL)`,
    'CREATE INDEX messaging_trail_attempt ON messaging_trail (message_id, position, tried)',
  ];
}

function sendRules(dialect: Dialect): string[] {
  const { id, text, integer } = columnTypes(dialect);
  return [
    // One row per record of a send policy. For one-time passcodes it is the state of a number and of its challenge,
    // never the code. The table is not clustered, because its keys are random, like those of `messaging_idempotency`.
    `CREATE TABLE messaging_policy (
      id ${id} NOT NULL PRIMARY KEY, version ${integer} NOT NULL, state ${text} NOT NULL, messages ${text} NOT NULL,
      expires_at ${integer} NOT NULL)`,
    'CREATE INDEX messaging_policy_expiry ON messaging_policy (expires_at)',
    // Rows change with every code that is sent or checked.
    ...dialect.upkeep('messaging_policy', CHANGING),

    // The units that the keys of a family with a cap have spent on a day. day: days since the epoch, UTC.
    `CREATE TABLE messaging_key_spending (
      family ${id} NOT NULL, day ${integer} NOT NULL, units ${integer} NOT NULL, PRIMARY KEY (family, day))${dialect.clustered}`,
    'CREATE INDEX messaging_key_spending_age ON messaging_key_spending (day)',
  ];
}

function operation(dialect: Dialect): string[] {
  const { id, name, integer } = columnTypes(dialect);
  return [
    // Paused queues, from which nothing is claimed. channel, account_id: '' for all.
    `CREATE TABLE messaging_pause (
      channel ${id} NOT NULL, account_id ${id} NOT NULL, paused_at ${integer} NOT NULL,
      PRIMARY KEY (channel, account_id))${dialect.clustered}`,

    // Routes to carriers that get no new attempts.
    `CREATE TABLE messaging_rested_route (
      id ${id} NOT NULL PRIMARY KEY, rested_at ${integer} NOT NULL)${dialect.clustered}`,

    // The progress of purges of messages. place: the id of the last message that was purged. skipped: the id after
    // which the purge starts again, because messages after it were still being sent at the time `since`.
    `CREATE TABLE messaging_retention (
      name ${id} NOT NULL PRIMARY KEY, place ${name} NOT NULL, skipped ${name}, since ${integer})${dialect.clustered}`,
  ];
}
