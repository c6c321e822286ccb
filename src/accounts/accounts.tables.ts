import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';
import { CHANGING, UNHURRIED } from '../storage/schema/upkeep.js';

/**
 * The tables of accounts, of their keys and signatures, of the audit log, and of the replies under Idempotency-Keys.
 */
export function accountTables(dialect: Dialect): string[] {
  const { id, name, text, integer, serial } = columnTypes(dialect);
  return [
    // posted: the sum of the account's top-ups and adjustments. The balance cannot exceed it, whatever is refunded.
    // state: `active`, `suspended` or `closed`.
    // low_below: the threshold of `balance.low`.
    // low: 1 if the balance has fallen below the threshold and no event says so yet, 2 if one does, null above the threshold.
    `CREATE TABLE messaging_account (
      id ${id} NOT NULL PRIMARY KEY, name ${name} NOT NULL, balance ${integer} NOT NULL CHECK (balance >= 0),
      posted ${integer} NOT NULL DEFAULT 0, created_at ${integer} NOT NULL, state ${id} NOT NULL DEFAULT 'active',
      low_below ${integer}, low ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_account_listing ON messaging_account (created_at, id)',
    'CREATE INDEX messaging_account_name ON messaging_account (name, id)',
    'CREATE INDEX messaging_account_state ON messaging_account (state, created_at, id)',
    `CREATE INDEX messaging_account_low ON messaging_account (low)${dialect.indexedOnly('low')}`,
    // Each commit changes a balance, which is in no index. Half of each page is left free, so that PostgreSQL can write
    // the new row to the same page (HOT).
    ...dialect.upkeep('messaging_account', { fillfactor: 50, ...CHANGING, ...UNHURRIED }),

    // scopes, cidrs, recipients: JSON lists, null for all. confirm_above: a send that costs more
    // units needs a confirmation; null: none does. family: the first of the keys that were rotated into this one. All keys
    // of a family share one count of spent units. Null: the key was not rotated, so it is the first itself. used_at:
    // the minute of its last use.
    `CREATE TABLE messaging_api_key (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, hash ${id} NOT NULL, name ${name}, scopes ${text},
      cidrs ${text}, daily_units ${integer}, per_minute ${integer}, recipients ${text}, confirm_above ${integer}, family ${id}, used_at ${integer},
      created_at ${integer} NOT NULL, expires_at ${integer}, revoked_at ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_api_key_listing ON messaging_api_key (account_id, created_at, id)',

    `CREATE TABLE messaging_signature (
      account_id ${id} NOT NULL, name ${name} NOT NULL, status ${id} NOT NULL, reason ${text},
      created_at ${integer} NOT NULL, decided_at ${integer}, PRIMARY KEY (account_id, name))${dialect.clustered}`,
    // To find the accounts of a signature when a phone replies to it.
    'CREATE INDEX messaging_signature_name ON messaging_signature (name)',
    // To find the signatures of all accounts that wait for a decision.
    'CREATE INDEX messaging_signature_status ON messaging_signature (status, created_at, account_id, name)',

    // Who changed what. changes: JSON, the changed fields before and after.
    `CREATE TABLE messaging_audit (
      id ${serial} PRIMARY KEY, account_id ${id}, at ${integer} NOT NULL, by_kind ${id} NOT NULL, by_id ${name},
      address ${id}, action ${id} NOT NULL, target ${name} NOT NULL, changes ${text} NOT NULL)`,
    'CREATE INDEX messaging_audit_account ON messaging_audit (account_id, id)',
    'CREATE INDEX messaging_audit_action ON messaging_audit (action, id)',
    // To list the log of a period. An index in the order of ids would make a listing read everything that is newer than
    // the period.
    'CREATE INDEX messaging_audit_at ON messaging_audit (at, id)',
    'CREATE INDEX messaging_audit_account_at ON messaging_audit (account_id, at, id)',
    'CREATE INDEX messaging_audit_action_at ON messaging_audit (action, at, id)',

    // The table is not clustered, because its keys are random. In a clustered table, SQLite would write another page
    // for each row of a commit, with the reply on it. In the order of arrival, new rows share pages, and only the pages
    // of the key's index are scattered.
    `CREATE TABLE messaging_idempotency (
      account_id ${id} NOT NULL, route ${id} NOT NULL, idempotency_key ${name} NOT NULL, fingerprint ${id} NOT NULL,
      reply ${text} NOT NULL, expires_at ${integer} NOT NULL, PRIMARY KEY (account_id, route, idempotency_key))`,
    'CREATE INDEX messaging_idempotency_expiry ON messaging_idempotency (expires_at)',
    // Rows are deleted after one day or a few days.
    ...dialect.upkeep('messaging_idempotency', CHANGING),
  ];
}
