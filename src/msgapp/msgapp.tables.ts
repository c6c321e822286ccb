import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/**
 * The tables of messaging-app channels: sessions with their steps and credentials, received messages, and addresses of numbers.
 */
export function msgappTables(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // lease_until: when another process may take the session. 0 if no process has it, null if it has ended. steps: the number of
    // its steps, and so the place of the next one.
    `CREATE TABLE messaging_session (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, status ${id} NOT NULL,
      number ${id}, reason ${text}, created_at ${integer} NOT NULL, connected_at ${integer},
      updated_at ${integer} NOT NULL, steps ${integer} NOT NULL, owner ${name}, lease_until ${integer},
      epoch ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_session_account ON messaging_session (account_id, channel, created_at, id)',
    `CREATE INDEX messaging_session_lease ON messaging_session (channel, lease_until)${dialect.indexedOnly('lease_until')}`,
    // This index finds live sessions without reading ended ones, of which an account may have any number.
    `CREATE INDEX messaging_session_live ON messaging_session (account_id, channel, lease_until)${dialect.indexedOnly('lease_until')}`,
    'CREATE INDEX messaging_session_age ON messaging_session (updated_at)',
    // These indexes list the sessions of all accounts, by state, and of one account.
    'CREATE INDEX messaging_session_listing ON messaging_session (created_at, id)',
    'CREATE INDEX messaging_session_status ON messaging_session (status, created_at, id)',
    'CREATE INDEX messaging_session_of ON messaging_session (account_id, created_at, id)',

    `CREATE TABLE messaging_session_step (
      session_id ${id} NOT NULL, place ${integer} NOT NULL, from_status ${id}, to_status ${id} NOT NULL,
      reason ${text} NOT NULL, number ${id}, moved_at ${integer} NOT NULL,
      PRIMARY KEY (session_id, place))${dialect.clustered}`,

    // content is encrypted.
    `CREATE TABLE messaging_session_credential (
      session_id ${id} NOT NULL, kind ${id} NOT NULL, name ${name} NOT NULL, content ${text} NOT NULL,
      PRIMARY KEY (session_id, kind, name))${dialect.clustered}`,

    // Messages to linked numbers. A row recognises a repeat, and its file can be fetched.
    // name: a hash of the values that identify the message.
    // id: the id of its event.
    // number: the sender's number. Null if the app hides it or if it was erased.
    // file: the data with which the file is fetched, encrypted. Null if there is no file.
    `CREATE TABLE messaging_msgapp_received (
      name ${id} NOT NULL PRIMARY KEY, id ${id} NOT NULL, account_id ${id} NOT NULL, session_id ${id} NOT NULL, number ${id},
      file ${text}, received_at ${integer} NOT NULL)`,
    'CREATE UNIQUE INDEX messaging_msgapp_received_id ON messaging_msgapp_received (id)',
    `CREATE INDEX messaging_msgapp_received_number ON messaging_msgapp_received (number)${dialect.indexedOnly('number')}`,
    'CREATE INDEX messaging_msgapp_received_age ON messaging_msgapp_received (received_at)',

    // The addresses that apps' servers gave for numbers, for all sessions, channels and accounts. app: the transport's name.
    `CREATE TABLE messaging_msgapp_address (
      number ${id} NOT NULL, app ${id} NOT NULL, address ${name} NOT NULL, learned_at ${integer} NOT NULL,
      PRIMARY KEY (number, app))${dialect.clustered}`,
    'CREATE INDEX messaging_msgapp_address_age ON messaging_msgapp_address (learned_at)',
  ];
}
