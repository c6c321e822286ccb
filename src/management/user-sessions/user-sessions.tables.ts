import type { Dialect } from '../../storage/dialect.js';
import { columnTypes } from '../../storage/schema/column-types.js';

/** The tables of one-time links and of the sessions of users. */
export function userSessionTables(dialect: Dialect): string[] {
  const { id, name, integer } = columnTypes(dialect);
  return [
    // hash: SHA-256 of the secret.
    // account_id: null for the roles of the operator.
    `CREATE TABLE messaging_user_link (
      hash ${id} NOT NULL PRIMARY KEY, id ${id} NOT NULL, subject ${name} NOT NULL, account_id ${id}, role ${id} NOT NULL,
      created_at ${integer} NOT NULL, expires_at ${integer} NOT NULL, used_at ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_user_link_expiry ON messaging_user_link (expires_at)',
    // This index finds the links of a user.
    'CREATE INDEX messaging_user_link_subject ON messaging_user_link (subject)',

    // hash, previous_hash: SHA-256 of the refresh token, and of the token that it replaced at `replaced_at`.
    // expires_at: when the session ends unless it is refreshed. ends_at: when it ends in any case.
    `CREATE TABLE messaging_user_session (
      id ${id} NOT NULL PRIMARY KEY, subject ${name} NOT NULL, account_id ${id}, role ${id} NOT NULL, hash ${id} NOT NULL,
      previous_hash ${id}, replaced_at ${integer}, started_at ${integer} NOT NULL, used_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL, ends_at ${integer} NOT NULL, ended_at ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_user_session_expiry ON messaging_user_session (expires_at)',
    // This index finds the sessions of a user.
    'CREATE INDEX messaging_user_session_subject ON messaging_user_session (subject, id)',
  ];
}
