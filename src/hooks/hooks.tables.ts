import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** The tables of log-in hooks, and of their last calls. */
export function loginHookTables(dialect: Dialect): string[] {
  const { id, name, text, integer, small } = columnTypes(dialect);
  return [
    // versions: JSON, the encrypted secrets that prove calls, the newest first, each with its end. mapping, proof: JSON, null
    // unless the kind is `generic`. daily_units: null for no limit.
    `CREATE TABLE messaging_login_hook (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, kind ${id} NOT NULL, name ${text}, signature ${name} NOT NULL,
      channel ${id} NOT NULL, max_segments ${small} NOT NULL, daily_units ${integer}, mapping ${text}, proof ${text},
      versions ${text} NOT NULL, status ${id} NOT NULL, created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_login_hook_account ON messaging_login_hook (account_id, created_at, id)',

    // The last 50 calls of each hook. number: masked, null if the call was not read. is_test: 1 if somebody sent it by hand.
    `CREATE TABLE messaging_login_hook_call (
      hook_id ${id} NOT NULL, id ${id} NOT NULL, at ${integer} NOT NULL, outcome ${id} NOT NULL, number ${id},
      message_id ${id}, is_test ${small} NOT NULL, PRIMARY KEY (hook_id, id))${dialect.clustered}`,
  ];
}
