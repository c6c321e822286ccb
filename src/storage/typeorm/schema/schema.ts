import type { Dialect } from '../dialects/dialect.js';
import { columnTypes } from './column-types.js';

/** The tables and indexes of each group, by the versions of `versions.ts`. */

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
    // lane_turn: the position of its send in the lane, smallest first (`laneTurn`); 0 from the first attempt on, so that no
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

/** Parts of SMS that carriers have accepted, their receipts, and opt-outs. */
export function smsTables(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // One row per part that a carrier has accepted. carrier_id: empty where the carrier gave none.
    `CREATE TABLE messaging_sms_part (
      message_id ${id} NOT NULL, position ${integer} NOT NULL, attempt ${integer} NOT NULL, part ${integer} NOT NULL,
      parts ${integer} NOT NULL, route ${id} NOT NULL, carrier_id ${id} NOT NULL, number ${id} NOT NULL,
      status ${id} NOT NULL, error ${text}, recorded_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL, PRIMARY KEY (message_id, position, attempt, part))${dialect.clustered}`,
    'CREATE INDEX messaging_sms_part_carrier ON messaging_sms_part (route, carrier_id, number)',
    'CREATE INDEX messaging_sms_part_expiry ON messaging_sms_part (expires_at)',

    // Receipts that arrived before their part was stored, one row for each id that the part may have. counts_for: the route
    // on one row of each receipt and null on its other rows (up to 15), so that counting a route's receipts reads one row
    // each.
    `CREATE TABLE messaging_sms_parked (
      receipt_id ${id} NOT NULL, carrier_id ${id} NOT NULL, route ${id} NOT NULL, counts_for ${id},
      receipt ${text} NOT NULL, expires_at ${integer} NOT NULL, PRIMARY KEY (receipt_id, carrier_id))${dialect.clustered}`,
    'CREATE INDEX messaging_sms_parked_carrier ON messaging_sms_parked (route, carrier_id)',
    'CREATE INDEX messaging_sms_parked_expiry ON messaging_sms_parked (expires_at)',
    `CREATE INDEX messaging_sms_parked_count ON messaging_sms_parked (counts_for, expires_at, receipt_id)${dialect.indexedOnly('counts_for')}`,

    // Rows are only locked, to serialise the transactions that record parts and receipts of a route.
    `CREATE TABLE messaging_sms_route (id ${id} NOT NULL PRIMARY KEY)${dialect.clustered}`,

    // Numbers that have opted out of a signature of an account; account '*': of all accounts.
    `CREATE TABLE messaging_opt_out (
      account_id ${id} NOT NULL, signature ${name} NOT NULL, number ${id} NOT NULL, id ${id} NOT NULL,
      source ${id} NOT NULL, added_at ${integer} NOT NULL, PRIMARY KEY (account_id, signature, number))${dialect.clustered}`,
    'CREATE UNIQUE INDEX messaging_opt_out_id ON messaging_opt_out (id)',
    'CREATE INDEX messaging_opt_out_listing ON messaging_opt_out (account_id, added_at, id)',

    // One row per signature that ever had an opt-out; for all others no number needs a look-up.
    `CREATE TABLE messaging_opt_out_list (
      account_id ${id} NOT NULL, signature ${name} NOT NULL, PRIMARY KEY (account_id, signature))${dialect.clustered}`,
  ];
}

/** Sessions of messaging-app channels, with their steps and credentials. */
export function msgappTables(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // lease_until: when another process may take the session; 0 where no process holds it, null where it has ended.
    // steps: the number of its steps, and so the place of the next one.
    `CREATE TABLE messaging_session (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, status ${id} NOT NULL,
      number ${id}, reason ${text}, created_at ${integer} NOT NULL, connected_at ${integer},
      updated_at ${integer} NOT NULL, steps ${integer} NOT NULL, owner ${name}, lease_until ${integer},
      epoch ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_session_account ON messaging_session (account_id, channel, created_at, id)',
    `CREATE INDEX messaging_session_lease ON messaging_session (channel, lease_until)${dialect.indexedOnly('lease_until')}`,
    // To find live sessions without reading ended ones, of which an account may have any number.
    `CREATE INDEX messaging_session_live ON messaging_session (account_id, channel, lease_until)${dialect.indexedOnly('lease_until')}`,
    'CREATE INDEX messaging_session_age ON messaging_session (updated_at)',

    `CREATE TABLE messaging_session_step (
      session_id ${id} NOT NULL, place ${integer} NOT NULL, from_status ${id}, to_status ${id} NOT NULL,
      reason ${text} NOT NULL, number ${id}, moved_at ${integer} NOT NULL,
      PRIMARY KEY (session_id, place))${dialect.clustered}`,

    // content is encrypted.
    `CREATE TABLE messaging_session_credential (
      session_id ${id} NOT NULL, kind ${id} NOT NULL, name ${name} NOT NULL, content ${text} NOT NULL,
      PRIMARY KEY (session_id, kind, name))${dialect.clustered}`,
  ];
}

/** Messages to linked numbers that have come, so that a repeat is told from a new one, with what their files are fetched by. */
export function receivedMessages(dialect: Dialect): string[] {
  const { id, text, integer } = columnTypes(dialect);
  return [
    // name: a hash of what the message is known by. id: that of its event. number: who wrote; null where that is hidden or erased.
    // file: what its file is fetched by, encrypted; null without one.
    `CREATE TABLE messaging_msgapp_received (
      name ${id} NOT NULL PRIMARY KEY, id ${id} NOT NULL, account_id ${id} NOT NULL, session_id ${id} NOT NULL, number ${id},
      file ${text}, received_at ${integer} NOT NULL)`,
    'CREATE UNIQUE INDEX messaging_msgapp_received_id ON messaging_msgapp_received (id)',
    `CREATE INDEX messaging_msgapp_received_number ON messaging_msgapp_received (number)${dialect.indexedOnly('number')}`,
    'CREATE INDEX messaging_msgapp_received_age ON messaging_msgapp_received (received_at)',
  ];
}

/** Messages that the sandbox's phones have received. */
export function sandboxTables(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    `CREATE TABLE messaging_phone_message (
      number ${id} NOT NULL, channel ${id} NOT NULL, message_id ${id} NOT NULL, sender ${name} NOT NULL,
      body ${text} NOT NULL, media ${text}, received_at ${integer} NOT NULL,
      PRIMARY KEY (number, channel, message_id))${dialect.clustered}`,
    'CREATE INDEX messaging_phone_message_latest ON messaging_phone_message (received_at)',
  ];
}

/** What the sandbox's page shows beside what phones have received: messages that did not arrive, and files. */
export function sandboxScreens(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // position: the recipient's place in the send, to find the state of its delivery. file_id: the phone's copy of the file.
    `ALTER TABLE messaging_phone_message ADD COLUMN position ${integer}`,
    `ALTER TABLE messaging_phone_message ADD COLUMN file_id ${id}`,
    // received_at: the time of the first attempt.
    `CREATE TABLE messaging_phone_lost (
      number ${id} NOT NULL, channel ${id} NOT NULL, message_id ${id} NOT NULL, sender ${name} NOT NULL,
      body ${text} NOT NULL, media ${text}, received_at ${integer} NOT NULL, position ${integer}, file_id ${id},
      PRIMARY KEY (number, channel, message_id))${dialect.clustered}`,
    'CREATE INDEX messaging_phone_lost_latest ON messaging_phone_lost (received_at)',
  ];
}

// A delivery leaves two or three dead rows: cleaned up after 1000 and a hundredth of the table, while they are in memory.
const CHANGING = { autovacuum_vacuum_scale_factor: 0.01, autovacuum_vacuum_threshold: 1000 };

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

/** The log of events, and what its counts and thresholds need on messages and accounts. */
export function eventTables(dialect: Dialect): string[] {
  const { id, text, integer, small, serial } = columnTypes(dialect);
  return [
    // One row per account; id: the account's. sequence: the number of its last event. began: the first number since it was last
    // switched on. earliest: the lowest number that is kept, or given next. recording: 1 while changes are recorded, 2 after it
    // was switched off, 0 before it was ever on. used_at: when it was last switched on or read.
    `CREATE TABLE messaging_event_counter (
      id ${id} NOT NULL PRIMARY KEY, sequence ${integer} NOT NULL, began ${integer} NOT NULL DEFAULT 1,
      earliest ${integer} NOT NULL, recording ${small} NOT NULL, used_at ${integer} NOT NULL)${dialect.clustered}`,
    `CREATE TABLE messaging_event (
      account_id ${id} NOT NULL, sequence ${integer} NOT NULL, type ${id} NOT NULL, at ${integer} NOT NULL,
      data ${text} NOT NULL, PRIMARY KEY (account_id, sequence))`,
    // To read some types without reading the others.
    'CREATE INDEX messaging_event_type ON messaging_event (account_id, type, sequence)',
    // Events without numbers yet, of transactions that lock no counter.
    `CREATE TABLE messaging_event_mark (
      id ${serial} PRIMARY KEY, account_id ${id} NOT NULL, type ${id} NOT NULL, at ${integer} NOT NULL, data ${text} NOT NULL)`,
    // settled: how many recipients need no further attempt or report; counted while the account records. settled_since: the
    // counter's `began` then, so that a count of an earlier recording, which has missed some, is not continued.
    `ALTER TABLE messaging_message ADD COLUMN settled ${integer}`,
    `ALTER TABLE messaging_message ADD COLUMN settled_since ${integer}`,
    // low_below: the threshold of `balance.low`. low: 1 where it was crossed and no event says so yet, 2 where one does, null
    // above it.
    `ALTER TABLE messaging_account ADD COLUMN low_below ${integer}`,
    `ALTER TABLE messaging_account ADD COLUMN low ${integer}`,
    `CREATE INDEX messaging_account_low ON messaging_account (low)${dialect.indexedOnly('low')}`,
    // A change of a number is one of no index, and stays on its page; marks live for a moment.
    ...dialect.upkeep('messaging_event_counter', { fillfactor: 50, ...CHANGING }),
    ...dialect.upkeep('messaging_event_mark', CHANGING),
  ];
}

/** Endpoints that are told of events by HTTP. */
export function webhookTables(dialect: Dialect): string[] {
  const { id, name, text, integer, small } = columnTypes(dialect);
  return [
    // types: JSON, null for all. signature: hmac or ed25519. versions: JSON, the versions of the secret that sign, the newest
    // first, each with its end. cursor_at: the number up to which events were called or are retried.
    // failing_since: since when there was nothing but failures. rests_until: Retry-After.
    // owner, lease_until, epoch: the process that calls it.
    `CREATE TABLE messaging_endpoint (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, url ${text} NOT NULL, types ${text}, ordering ${id} NOT NULL,
      batch_max ${integer} NOT NULL, wait_ms ${integer} NOT NULL, signature ${id} NOT NULL, versions ${text} NOT NULL,
      description ${text}, status ${id} NOT NULL, reason ${id}, cursor_at ${integer} NOT NULL,
      failing_since ${integer}, rests_until ${integer}, owner ${name}, lease_until ${integer} NOT NULL, epoch ${integer} NOT NULL,
      created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_endpoint_account ON messaging_endpoint (account_id, created_at, id)',
    // Events that are tried again by themselves. tries: calls so far. due_at: null where the last one has failed for good.
    // batch: the id of the batch that its retries repeat.
    `CREATE TABLE messaging_endpoint_retry (
      endpoint_id ${id} NOT NULL, sequence ${integer} NOT NULL, tries ${integer} NOT NULL, due_at ${integer},
      batch ${id}, PRIMARY KEY (endpoint_id, sequence))${dialect.clustered}`,
    `CREATE INDEX messaging_endpoint_retry_due ON messaging_endpoint_retry (endpoint_id, due_at)${dialect.indexedOnly('due_at')}`,
    // Windows of the log that are called again. position: up to which number they were. types: JSON, null for all.
    `CREATE TABLE messaging_endpoint_replay (
      id ${id} NOT NULL PRIMARY KEY, endpoint_id ${id} NOT NULL, position ${integer} NOT NULL, up_to ${integer} NOT NULL,
      types ${text})${dialect.clustered}`,
    'CREATE INDEX messaging_endpoint_replay_listing ON messaging_endpoint_replay (endpoint_id, id)',
    // One row per call; the request is rendered from the log. first, last: the numbers of its events. reply: the cut response.
    `CREATE TABLE messaging_endpoint_attempt (
      id ${id} NOT NULL PRIMARY KEY, endpoint_id ${id} NOT NULL, first ${integer} NOT NULL, last ${integer} NOT NULL,
      sequences ${text} NOT NULL, at ${integer} NOT NULL, ms ${integer} NOT NULL, ok ${small} NOT NULL, status ${integer},
      error ${text}, reply ${text})${dialect.clustered}`,
    'CREATE INDEX messaging_endpoint_attempt_listing ON messaging_endpoint_attempt (endpoint_id, at, id)',
    // To read failed calls without reading the others.
    'CREATE INDEX messaging_endpoint_attempt_result ON messaging_endpoint_attempt (endpoint_id, ok, at, id)',
    'CREATE INDEX messaging_endpoint_attempt_age ON messaging_endpoint_attempt (at)',
  ];
}

/** Texts of phones that have come, so that a repeat is told from a new one. */
export function receivedTexts(dialect: Dialect): string[] {
  const { id, integer } = columnTypes(dialect);
  return [
    // id: a hash of what the text is known by. text_id: the id of its events.
    `CREATE TABLE messaging_sms_received (
      id ${id} NOT NULL PRIMARY KEY, text_id ${id} NOT NULL, expires_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_sms_received_expiry ON messaging_sms_received (expires_at)',
  ];
}

/** Opt-outs of erased numbers, under keyed hashes. */
export function hashedOptOuts(dialect: Dialect): string[] {
  // hashed_at: since when numbers of the list may be keyed hashes.
  return [`ALTER TABLE messaging_opt_out_list ADD COLUMN hashed_at ${columnTypes(dialect).integer}`];
}
