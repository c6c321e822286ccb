import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';
import { CHANGING } from '../storage/schema/upkeep.js';

/** Accounts, the ledger, the outbox, and the files of messages. */
export function coreTables(dialect: Dialect): string[] {
  return [...accounts(dialect), ...ledger(dialect), ...outbox(dialect), ...media(dialect)];
}

function accounts(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // posted: the sum of the account's top-ups and adjustments, which the balance cannot exceed, whatever is refunded.
    `CREATE TABLE messaging_account (
      id ${id} NOT NULL PRIMARY KEY, name ${name} NOT NULL, balance ${integer} NOT NULL CHECK (balance >= 0),
      posted ${integer} NOT NULL DEFAULT 0, created_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_account_listing ON messaging_account (created_at, id)',

    `CREATE TABLE messaging_api_key (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, hash ${id} NOT NULL,
      created_at ${integer} NOT NULL, expires_at ${integer}, revoked_at ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_api_key_listing ON messaging_api_key (account_id, created_at, id)',

    `CREATE TABLE messaging_signature (
      account_id ${id} NOT NULL, name ${name} NOT NULL, status ${id} NOT NULL, reason ${text},
      created_at ${integer} NOT NULL, decided_at ${integer}, PRIMARY KEY (account_id, name))${dialect.clustered}`,
    // To find the accounts of a signature when a phone replies to it.
    'CREATE INDEX messaging_signature_name ON messaging_signature (name)',
  ];
}

function ledger(dialect: Dialect): string[] {
  const { id, text, integer } = columnTypes(dialect);
  return [
    // The id of a charge is the message's id; of a refund, the message's id and the recipient's position. So the primary key
    // prevents a second charge or refund.
    `CREATE TABLE messaging_ledger (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, kind ${id} NOT NULL, units ${integer} NOT NULL,
      message_id ${id}, position ${integer}, note ${text}, posted_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_ledger_account ON messaging_ledger (account_id, posted_at, id)',
  ];
}

function outbox(dialect: Dialect): string[] {
  const { id, name, text, integer, small, serial } = columnTypes(dialect);
  return [
    // One row per send. units: the charge, which never changes. recipients: their number. metadata: JSON, null where
    // the send had none. trace: W3C traceparent, null where the accept was not recorded.
    `CREATE TABLE messaging_message (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, kind ${id} NOT NULL,
      lane ${name}, sender ${name} NOT NULL, payload ${text} NOT NULL, units ${integer} NOT NULL,
      refunded_units ${integer} NOT NULL, recipients ${integer} NOT NULL DEFAULT 1, accepted_at ${integer} NOT NULL,
      metadata ${text}, trace ${text})`,
    'CREATE INDEX messaging_message_listing ON messaging_message (account_id, channel, kind, accepted_at, id)',

    // One row per recipient.
    // due_at: the time of the next attempt, the end of the worker's lease or the deadline of a report; null: never.
    // lane: null once no further attempt is needed.
    // lane_turn: the position of its send in the lane, smallest first (`PriorityTurns`); 0 from the first attempt on, so that no
    //   later recipient overtakes it.
    // attempt: the number of attempts begun. tries: the number of attempts in the trail; one that tried several carriers
    //   has stored several.
    // doubtful: 1 where the carrier may have accepted one.
    // priority: see `rankOf`.
    `CREATE TABLE messaging_recipient (
      message_id ${id} NOT NULL, position ${integer} NOT NULL, channel ${id} NOT NULL, lane ${name}, lane_turn ${integer},
      number ${id} NOT NULL, units ${integer} NOT NULL, refunded_units ${integer} NOT NULL, status ${id} NOT NULL,
      priority ${small} NOT NULL DEFAULT 0, attempt ${integer} NOT NULL, tries ${integer} NOT NULL DEFAULT 0,
      doubtful ${integer}, due_at ${integer}, error ${text}, reference ${name}, updated_at ${integer} NOT NULL,
      PRIMARY KEY (message_id, position))${dialect.clustered}`,
    // By status, so that a search for due attempts does not read recipients that wait for a report, and the reverse. One
    // index for both, as MariaDB has no partial indexes.
    `CREATE INDEX messaging_recipient_due ON messaging_recipient (channel, status, due_at)${dialect.indexedOnly('due_at')}`,
    `CREATE INDEX messaging_recipient_turn ON messaging_recipient (channel, lane, lane_turn, message_id, position)${dialect.indexedOnly('lane')}`,
    `CREATE INDEX messaging_recipient_reference ON messaging_recipient (channel, reference)${dialect.indexedOnly('reference')}`,

    // One row per recipient of a text, to find messages by number. Not an index on the recipients: their rows change several
    // times, and PostgreSQL writes all indexes of a row at each change.
    `CREATE TABLE messaging_sent_to (
      account_id ${id} NOT NULL, channel ${id} NOT NULL, number ${id} NOT NULL, sent_at ${integer} NOT NULL,
      message_id ${id} NOT NULL, position ${integer} NOT NULL,
      PRIMARY KEY (account_id, channel, number, sent_at, message_id))${dialect.clustered}`,

    // The history of a delivery: states and tried carriers. Rows are only added; two entries may differ in the id only.
    // tried: the number of the attempt, from 1; null for entries that are no attempts.
    `CREATE TABLE messaging_trail (
      id ${serial} PRIMARY KEY, message_id ${id} NOT NULL, position ${integer} NOT NULL, at ${integer} NOT NULL,
      place ${integer} NOT NULL, tried ${integer}, entry ${text} NOT NULL)`,
    'CREATE INDEX messaging_trail_attempt ON messaging_trail (message_id, position, tried)',

    // Not clustered, like the policies' records, as the keys are random: SQLite would write a page, reply included, for each
    // row of a commit. In order of arrival only the pages of the key's index are scattered.
    `CREATE TABLE messaging_idempotency (
      account_id ${id} NOT NULL, route ${id} NOT NULL, idempotency_key ${name} NOT NULL, fingerprint ${id} NOT NULL,
      reply ${text} NOT NULL, expires_at ${integer} NOT NULL, PRIMARY KEY (account_id, route, idempotency_key))`,
    'CREATE INDEX messaging_idempotency_expiry ON messaging_idempotency (expires_at)',

    // One row per record of a send policy: for one-time passcodes, the state of a number and of its challenge, never the
    // code.
    `CREATE TABLE messaging_policy (
      id ${id} NOT NULL PRIMARY KEY, version ${integer} NOT NULL, state ${text} NOT NULL, messages ${text} NOT NULL,
      expires_at ${integer} NOT NULL)`,
    'CREATE INDEX messaging_policy_expiry ON messaging_policy (expires_at)',
  ];
}

function media(dialect: Dialect): string[] {
  const { id, integer, bytes } = columnTypes(dialect);
  return [
    // chunks: their number; null while the file is written, -1 while it is removed.
    `CREATE TABLE messaging_media (
      id ${id} NOT NULL PRIMARY KEY, kept_at ${integer} NOT NULL, chunks ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_media_age ON messaging_media (kept_at)',

    // Not clustered, as the rows are large.
    `CREATE TABLE messaging_media_chunk (
      media_id ${id} NOT NULL, place ${integer} NOT NULL, content ${bytes} NOT NULL, PRIMARY KEY (media_id, place))`,
  ];
}

/** What a claim needs to share a batch between priorities and accounts. */
export function claimOrder(dialect: Dialect): string[] {
  const on = dialect.driver === 'mysql' ? ' ON messaging_recipient' : '';
  return [
    // queue: the account while the recipient waits for an attempt; '' in all other states, so that leases and deadlines are
    //   found in the order of time. Also '' for recipients with a lane, and for those that an earlier version stored.
    `ALTER TABLE messaging_recipient ADD COLUMN queue ${dialect.columnType('id')} NOT NULL DEFAULT ''`,
    // Replaces messaging_recipient_due, so that a change of a row writes no more indexes than before.
    `CREATE INDEX messaging_recipient_queue ON messaging_recipient (channel, status, priority, queue, due_at)${dialect.indexedOnly('due_at')}`,
    `DROP INDEX messaging_recipient_due${on}`,
  ];
}

/** How far messages have been purged, and which ones are no more than the proof of their charge. */
export function retention(dialect: Dialect): string[] {
  const { id, name, integer } = columnTypes(dialect);
  return [
    // A column without a default: no database rewrites the table, and each locks it for a moment only.
    // removed_at: since when its recipients are removed, or are being removed.
    `ALTER TABLE messaging_message ADD COLUMN removed_at ${integer}`,
    // place: the id of the last message that was purged. skipped: where to start over, as messages behind it were still being
    // sent at the time `since`.
    `CREATE TABLE messaging_retention (
      name ${id} NOT NULL PRIMARY KEY, place ${name} NOT NULL, skipped ${name}, since ${integer})${dialect.clustered}`,
  ];
}

/**
 * How PostgreSQL stores and cleans up the tables whose rows change. By its defaults a fifth of a table may be dead before it is
 * cleaned up: 2 000 000 dead rows of 10 000 000, past which claims read. The settings hold for what is written from now on.
 */
export function upkeep(dialect: Dialect): string[] {
  // Without pauses: what the claims read past meanwhile costs more than the clean-up.
  const unhurried = { autovacuum_vacuum_cost_delay: 0 };
  // A plan made for the empty queue is wrong for the full one: counted again after a fiftieth has changed.
  const counted = { autovacuum_analyze_scale_factor: 0.02 };
  return [
    // Without free space in its pages: each change is one of an indexed column, so it would save nothing (measured).
    ...dialect.upkeep('messaging_recipient', { ...CHANGING, ...unhurried, ...counted }),
    // Each commit changes a balance, in no index: with half of each page free the change stays on the page (HOT).
    ...dialect.upkeep('messaging_account', { fillfactor: 50, ...CHANGING, ...unhurried }),
    // A refund changes its message once, in no index.
    ...dialect.upkeep('messaging_message', { fillfactor: 95, ...CHANGING }),
    // Rows that are replaced at every code and every check of one.
    ...dialect.upkeep('messaging_policy', CHANGING),
    // Rows that live for a day or some days only.
    ...dialect.upkeep('messaging_idempotency', CHANGING),
  ];
}
