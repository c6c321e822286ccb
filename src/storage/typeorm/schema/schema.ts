import type { Dialect } from '../dialects/dialect.js';
import { TURNS_PER_MS } from '../stores/lane-turns.js';
import { carrierTables, parkedByRoute } from './schema-carriers.js';
import { liveSessions, msgappTables } from './schema-msgapp.js';
import { boundedReads } from './schema-reads.js';

/** The statements that make our tables, version by version. Only ever add to the list. */
export function schemaVersions(dialect: Dialect): readonly { readonly name: string; readonly up: readonly string[] }[] {
  return [
    { name: '0001-initial', up: initial(dialect) },
    { name: '0002-otp', up: otp(dialect) },
    { name: '0003-trail', up: trail(dialect) },
    { name: '0004-carriers', up: carrierTables(dialect) },
    { name: '0005-msgapp', up: msgappTables(dialect) },
    { name: '0006-opt-out', up: optOut(dialect) },
    { name: '0007-lane-order', up: laneOrder(dialect) },
    { name: '0008-random-keys', up: randomKeys(dialect) },
    { name: '0009-doubt', up: doubt(dialect) },
    { name: '0010-parked-by-route', up: parkedByRoute(dialect) },
    { name: '0011-live-sessions', up: liveSessions(dialect) },
    { name: '0012-due-by-status', up: dueByStatus(dialect) },
    { name: '0013-bounded-reads', up: boundedReads(dialect) },
  ];
}

/** Where the versions that have run are kept. */
export const SCHEMA_TABLE = 'messaging_schema';

function initial(dialect: Dialect): string[] {
  const id = dialect.columnType('id');
  const name = dialect.columnType('name');
  const text = dialect.columnType('text');
  const integer = dialect.columnType('integer');
  return [
    `CREATE TABLE messaging_account (
      id ${id} NOT NULL PRIMARY KEY, name ${name} NOT NULL,
      balance ${integer} NOT NULL CHECK (balance >= 0), created_at ${integer} NOT NULL)${dialect.clustered}`,

    `CREATE TABLE messaging_api_key (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, hash ${id} NOT NULL,
      created_at ${integer} NOT NULL, expires_at ${integer}, revoked_at ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_api_key_account ON messaging_api_key (account_id)',

    `CREATE TABLE messaging_signature (
      account_id ${id} NOT NULL, name ${name} NOT NULL, status ${id} NOT NULL, reason ${text},
      created_at ${integer} NOT NULL, decided_at ${integer}, PRIMARY KEY (account_id, name))${dialect.clustered}`,

    // One row a send. units is what was charged and never changes.
    `CREATE TABLE messaging_message (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, kind ${id} NOT NULL,
      lane ${name}, sender ${name} NOT NULL, payload ${text} NOT NULL, units ${integer} NOT NULL,
      refunded_units ${integer} NOT NULL, accepted_at ${integer} NOT NULL)`,
    'CREATE INDEX messaging_message_listing ON messaging_message (account_id, channel, kind, accepted_at, id)',

    // One row a recipient. due_at is when somebody must act on it next, whatever the reason: the next attempt, the end
    // of a worker's lease, the deadline of a report. Null: nobody has to.
    `CREATE TABLE messaging_recipient (
      message_id ${id} NOT NULL, position ${integer} NOT NULL, channel ${id} NOT NULL, lane ${name},
      number ${id} NOT NULL, units ${integer} NOT NULL, refunded_units ${integer} NOT NULL, status ${id} NOT NULL,
      attempt ${integer} NOT NULL, due_at ${integer}, error ${text}, reference ${name},
      updated_at ${integer} NOT NULL, PRIMARY KEY (message_id, position))${dialect.clustered}`,
    `CREATE INDEX messaging_recipient_due ON messaging_recipient (channel, due_at)${dialect.indexedOnly('due_at')}`,
    `CREATE INDEX messaging_recipient_lane ON messaging_recipient (channel, lane, due_at)${dialect.indexedOnly('lane')}`,

    // A charge has its message's id, a refund that id and the recipient's place: the primary key alone keeps either from
    // being booked twice.
    `CREATE TABLE messaging_ledger (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, kind ${id} NOT NULL, units ${integer} NOT NULL,
      message_id ${id}, position ${integer}, note ${text}, posted_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_ledger_account ON messaging_ledger (account_id, posted_at, id)',

    `CREATE TABLE messaging_idempotency (
      account_id ${id} NOT NULL, route ${id} NOT NULL, once_key ${name} NOT NULL, fingerprint ${id} NOT NULL,
      reply ${text} NOT NULL, expires_at ${integer} NOT NULL,
      PRIMARY KEY (account_id, route, once_key))${dialect.clustered}`,
    'CREATE INDEX messaging_idempotency_expiry ON messaging_idempotency (expires_at)',

    `CREATE TABLE messaging_phone_message (
      number ${id} NOT NULL, channel ${id} NOT NULL, message_id ${id} NOT NULL, sender ${name} NOT NULL,
      body ${text} NOT NULL, media ${text}, received_at ${integer} NOT NULL,
      PRIMARY KEY (number, channel, message_id))${dialect.clustered}`,
    'CREATE INDEX messaging_phone_message_latest ON messaging_phone_message (received_at)',
  ];
}

function otp(dialect: Dialect): string[] {
  const id = dialect.columnType('id');
  const text = dialect.columnType('text');
  const integer = dialect.columnType('integer');
  return [
    // One row a guard's record: for one-time passcodes, what is known of a number and of its code. Never a code itself.
    `CREATE TABLE messaging_guard (
      id ${id} NOT NULL PRIMARY KEY, version ${integer} NOT NULL, state ${text} NOT NULL, messages ${text} NOT NULL,
      expires_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_guard_expiry ON messaging_guard (expires_at)',
  ];
}

function trail(dialect: Dialect): string[] {
  const id = dialect.columnType('id');
  const text = dialect.columnType('text');
  const integer = dialect.columnType('integer');
  return [
    // What is kept of a delivery's way: states it reached, carriers that were tried. Only ever added to.
    `CREATE TABLE messaging_trail (
      message_id ${id} NOT NULL, position ${integer} NOT NULL, at ${integer} NOT NULL, place ${integer} NOT NULL,
      entry ${text} NOT NULL)`,
    'CREATE INDEX messaging_trail_message ON messaging_trail (message_id, at, place)',
    `CREATE INDEX messaging_recipient_reference ON messaging_recipient (channel, reference)${dialect.indexedOnly('reference')}`,
  ];
}

function optOut(dialect: Dialect): string[] {
  const id = dialect.columnType('id');
  const name = dialect.columnType('name');
  const integer = dialect.columnType('integer');
  return [
    // Who does not want SMS under a signature of an account; account '*': of all accounts.
    `CREATE TABLE messaging_opt_out (
      account_id ${id} NOT NULL, signature ${name} NOT NULL, number ${id} NOT NULL, id ${id} NOT NULL,
      source ${id} NOT NULL, added_at ${integer} NOT NULL, PRIMARY KEY (account_id, signature, number))${dialect.clustered}`,
    'CREATE UNIQUE INDEX messaging_opt_out_id ON messaging_opt_out (id)',
    'CREATE INDEX messaging_opt_out_listing ON messaging_opt_out (account_id, added_at, id)',

    // One row a signature that ever had an entry: under all others nothing has to be looked up.
    `CREATE TABLE messaging_opt_out_list (
      account_id ${id} NOT NULL, signature ${name} NOT NULL, PRIMARY KEY (account_id, signature))${dialect.clustered}`,

    // Whose signature a phone has answered to.
    'CREATE INDEX messaging_signature_name ON messaging_signature (name)',
  ];
}

function laneOrder(dialect: Dialect): string[] {
  return [
    // A recipient is in its lane until it needs no attempt any more: then its lane is null. lane_turn is its send's place
    // there, of two the smaller one first, and 0 from the first attempt on: one that was tried is not overtaken.
    `ALTER TABLE messaging_recipient ADD COLUMN lane_turn ${dialect.columnType('integer')}`,
    dialect.dropIndex('messaging_recipient_lane', 'messaging_recipient'),
    `CREATE INDEX messaging_recipient_turn ON messaging_recipient (channel, lane, lane_turn, message_id, position)${dialect.indexedOnly('lane')}`,
    "UPDATE messaging_recipient SET lane = NULL WHERE lane IS NOT NULL AND status NOT IN ('queued', 'sending')",
    `UPDATE messaging_recipient SET lane_turn = CASE WHEN attempt > 0 THEN 0 ELSE
      (SELECT m.accepted_at FROM messaging_message m WHERE m.id = messaging_recipient.message_id) * ${TURNS_PER_MS} END
      WHERE lane IS NOT NULL AND lane_turn IS NULL`,

    // Sessions that have ended are forgotten by their age.
    'CREATE INDEX messaging_session_age ON messaging_session (updated_at)',
  ];
}

/**
 * What is due is found by what is due of it: an attempt (`queued`, and `sending` past its lease) or the end of the wait for a
 * report (`sent`). Any number of the one is found without a look at the other. Each is a range of one index, as MariaDB has no
 * partial ones; its name stays, by which processes of the version before may ask for it still.
 */
function dueByStatus(dialect: Dialect): string[] {
  return [
    dialect.dropIndex('messaging_recipient_due', 'messaging_recipient'),
    `CREATE INDEX messaging_recipient_due ON messaging_recipient (channel, status, due_at)${dialect.indexedOnly('due_at')}`,
  ];
}

function doubt(dialect: Dialect): string[] {
  // 1: an attempt of it may have been taken.
  return [`ALTER TABLE messaging_recipient ADD COLUMN doubtful ${dialect.columnType('integer')}`];
}

/**
 * SQLite: rows under random keys, in the order they come. By key each of a commit's rows is on a page of its own, and each of
 * these pages is written whole; so only the index's are.
 */
function randomKeys(dialect: Dialect): string[] {
  if (dialect.clustered === '') return [];
  const moved = (name: string, columns: string) => [
    `ALTER TABLE messaging_${name} RENAME TO messaging_${name}_by_key`,
    `CREATE TABLE messaging_${name} (${columns})`,
    `INSERT INTO messaging_${name} SELECT * FROM messaging_${name}_by_key`,
    `DROP TABLE messaging_${name}_by_key`,
    `CREATE INDEX messaging_${name}_expiry ON messaging_${name} (expires_at)`,
  ];
  return [
    ...moved(
      'guard',
      `id TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL, messages TEXT NOT NULL,
      expires_at INTEGER NOT NULL`,
    ),
    ...moved(
      'idempotency',
      `account_id TEXT NOT NULL, route TEXT NOT NULL, once_key TEXT NOT NULL, fingerprint TEXT NOT NULL,
      reply TEXT NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (account_id, route, once_key)`,
    ),
  ];
}
