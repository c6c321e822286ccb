import type { Dialect } from '../../../storage/dialect.js';
import { columnTypes } from '../../../storage/schema/column-types.js';

/** What operators have switched off, what they have running, and indexes to look over all accounts. */
export function operatingTables(dialect: Dialect): string[] {
  const { id, text, integer } = columnTypes(dialect);
  return [
    'CREATE INDEX messaging_account_name ON messaging_account (name, id)',
    'CREATE INDEX messaging_account_state ON messaging_account (state, created_at, id)',
    'CREATE INDEX messaging_audit_action ON messaging_audit (action, id)',
    // Queues of which nothing is claimed. channel, account_id: '' for all.
    `CREATE TABLE messaging_pause (
      channel ${id} NOT NULL, account_id ${id} NOT NULL, paused_at ${integer} NOT NULL,
      PRIMARY KEY (channel, account_id))${dialect.clustered}`,
    // Routes to carriers that take no new attempts.
    `CREATE TABLE messaging_rested_route (
      id ${id} NOT NULL PRIMARY KEY, rested_at ${integer} NOT NULL)${dialect.clustered}`,
    // The last check of each kind. owner: the run; lease_until: when it counts as broken off, null where it has ended. findings:
    // JSON, the sentences.
    `CREATE TABLE messaging_check (
      id ${id} NOT NULL PRIMARY KEY, owner ${id} NOT NULL, state ${id} NOT NULL, part ${id}, checked ${integer} NOT NULL,
      findings ${text} NOT NULL, started_at ${integer} NOT NULL, ended_at ${integer}, lease_until ${integer})${dialect.clustered}`,
  ];
}
