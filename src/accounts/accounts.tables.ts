import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** What keys may be used for, how much they may spend, and which of them sent a message. */
export function keyLimits(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // state: `active`, `suspended` or `closed`.
    `ALTER TABLE messaging_account ADD COLUMN state ${id} NOT NULL DEFAULT 'active'`,
    // scopes, cidrs: JSON lists, null for all. family: the key that it has replaced, and that one before, up to the first, with
    // whose spending it goes on; null: its own. used_at: the minute of its last use.
    `ALTER TABLE messaging_api_key ADD COLUMN name ${name}`,
    `ALTER TABLE messaging_api_key ADD COLUMN scopes ${text}`,
    `ALTER TABLE messaging_api_key ADD COLUMN cidrs ${text}`,
    `ALTER TABLE messaging_api_key ADD COLUMN daily_units ${integer}`,
    `ALTER TABLE messaging_api_key ADD COLUMN per_minute ${integer}`,
    `ALTER TABLE messaging_api_key ADD COLUMN family ${id}`,
    `ALTER TABLE messaging_api_key ADD COLUMN used_at ${integer}`,
    // The key that sent it; null for a user, for the host's own code, and before there was this column.
    `ALTER TABLE messaging_message ADD COLUMN key_id ${id}`,
    // What the keys of a family with a cap have spent on a day; day: days since the epoch, UTC.
    `CREATE TABLE messaging_key_use (
      family ${id} NOT NULL, day ${integer} NOT NULL, units ${integer} NOT NULL, PRIMARY KEY (family, day))${dialect.clustered}`,
    'CREATE INDEX messaging_key_use_age ON messaging_key_use (day)',
    // To find what waits for a decision in all accounts.
    'CREATE INDEX messaging_signature_status ON messaging_signature (status, created_at, account_id, name)',
  ];
}

/** The log of who changed what. */
export function auditTable(dialect: Dialect): string[] {
  const { id, name, text, integer, serial } = columnTypes(dialect);
  return [
    // changes: JSON, the changed fields before and after.
    `CREATE TABLE messaging_audit (
      id ${serial} PRIMARY KEY, account_id ${id}, at ${integer} NOT NULL, by_kind ${id} NOT NULL, by_id ${name},
      address ${id}, action ${id} NOT NULL, target ${name} NOT NULL, changes ${text} NOT NULL)`,
    'CREATE INDEX messaging_audit_account ON messaging_audit (account_id, id)',
  ];
}

/** Indexes to list the log from a time on: in the order of ids all that is newer would be read. */
export function auditByTime(): string[] {
  return [
    'CREATE INDEX messaging_audit_at ON messaging_audit (at, id)',
    'CREATE INDEX messaging_audit_account_at ON messaging_audit (account_id, at, id)',
    'CREATE INDEX messaging_audit_action_at ON messaging_audit (action, at, id)',
  ];
}
