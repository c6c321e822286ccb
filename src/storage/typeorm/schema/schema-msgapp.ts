import type { Dialect } from '../dialects/dialect.js';

/** The tables of messaging-app channels: sessions with their steps and secrets, and the files of messages. */
export function msgappTables(dialect: Dialect): string[] {
  const id = dialect.columnType('id');
  const name = dialect.columnType('name');
  const text = dialect.columnType('text');
  const integer = dialect.columnType('integer');
  return [
    // lease_until is when somebody else may take the session: 0 where nobody holds it, null where it is final. steps is
    // how many it has taken, which is the place of the next one.
    `CREATE TABLE messaging_session (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, status ${id} NOT NULL,
      number ${id}, reason ${text}, created_at ${integer} NOT NULL, connected_at ${integer},
      updated_at ${integer} NOT NULL, steps ${integer} NOT NULL, owner ${name}, lease_until ${integer},
      epoch ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_session_account ON messaging_session (account_id, channel, created_at, id)',
    `CREATE INDEX messaging_session_lease ON messaging_session (channel, lease_until)${dialect.indexedOnly('lease_until')}`,

    `CREATE TABLE messaging_session_step (
      session_id ${id} NOT NULL, place ${integer} NOT NULL, from_status ${id}, to_status ${id} NOT NULL,
      reason ${text} NOT NULL, number ${id}, moved_at ${integer} NOT NULL,
      PRIMARY KEY (session_id, place))${dialect.clustered}`,

    // Content is encrypted before it comes here.
    `CREATE TABLE messaging_session_credential (
      session_id ${id} NOT NULL, kind ${id} NOT NULL, name ${name} NOT NULL, content ${text} NOT NULL,
      PRIMARY KEY (session_id, kind, name))${dialect.clustered}`,

    // chunks is how many there are: null while the file is written, -1 while it is removed.
    `CREATE TABLE messaging_media (
      id ${id} NOT NULL PRIMARY KEY, kept_at ${integer} NOT NULL, chunks ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_media_age ON messaging_media (kept_at)',
    // Rows are large: not clustered.
    `CREATE TABLE messaging_media_chunk (
      media_id ${id} NOT NULL, place ${integer} NOT NULL, content ${dialect.columnType('bytes')} NOT NULL,
      PRIMARY KEY (media_id, place))`,
  ];
}

/** An account may have ended any number of sessions: those that live are found without them. */
export function liveSessions(dialect: Dialect): string[] {
  return [
    `CREATE INDEX messaging_session_live ON messaging_session (account_id, channel, lease_until)${dialect.indexedOnly('lease_until')}`,
  ];
}
