import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** The tables of the doors in the shape of other services. */
export function compatTables(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // One row per message whose status a URL wants to know, until its last status was told. kind: whose shape the calls have.
    // sealed_key: the API key that signs the calls, encrypted; null if they are not signed. mask: the statuses that Kannel's
    // shape tells. since: the number of the account's last event before the send.
    `CREATE TABLE messaging_status_callback (
      message_id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, kind ${name} NOT NULL, url ${text} NOT NULL,
      sealed_key ${text}, mask ${integer} NOT NULL, since ${integer} NOT NULL,
      created_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_status_callback_account ON messaging_status_callback (account_id, since)',
    'CREATE INDEX messaging_status_callback_age ON messaging_status_callback (created_at)',

    // How far the events of an account were told. owner, lease_until: the process that tells them.
    `CREATE TABLE messaging_status_reader (
      account_id ${id} NOT NULL PRIMARY KEY, position ${integer} NOT NULL, owner ${name},
      lease_until ${integer} NOT NULL)${dialect.clustered}`,
  ];
}
