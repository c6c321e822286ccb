import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/**
 * The tables of messaging-app channels: sessions with their steps and credentials, contacts, received messages, and addresses of
 * numbers.
 */
export function msgappTables(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // lease_until: when another process may take the session. 0 if no process has it, null if it has ended. steps: the number of
    // its steps, and so the place of the next one.
    // address: the app's own address of the number, under which the app's calls report messages. Null for an app without calls.
    `CREATE TABLE messaging_session (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, status ${id} NOT NULL,
      number ${id}, reason ${text}, created_at ${integer} NOT NULL, connected_at ${integer},
      updated_at ${integer} NOT NULL, steps ${integer} NOT NULL, owner ${name}, lease_until ${integer},
      epoch ${integer} NOT NULL, address ${name})${dialect.clustered}`,
    'CREATE INDEX messaging_session_account ON messaging_session (account_id, channel, created_at, id)',
    `CREATE INDEX messaging_session_lease ON messaging_session (channel, lease_until)${dialect.indexedOnly('lease_until')}`,
    // This index finds live sessions without reading ended ones, of which an account may have any number.
    `CREATE INDEX messaging_session_live ON messaging_session (account_id, channel, lease_until)${dialect.indexedOnly('lease_until')}`,
    `CREATE INDEX messaging_session_address ON messaging_session (address)${dialect.indexedOnly('address')}`,
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
    // contact_id: the sender. Null if the app does not say who that is, or if the contact was erased.
    // number: the sender's number. Null if it is not known or if it was erased.
    // file: the data with which the file is fetched, encrypted. Null if there is no file.
    // origin: what the app calls the message, so that it can be answered, encrypted. Null for a reaction, and if it was erased.
    // quote: the beginning of its text, for an answer that quotes it, encrypted. Null without a text, and if it was removed.
    `CREATE TABLE messaging_msgapp_received (
      name ${id} NOT NULL PRIMARY KEY, id ${id} NOT NULL, account_id ${id} NOT NULL, session_id ${id} NOT NULL, contact_id ${id},
      number ${id}, file ${text}, origin ${text}, quote ${text}, received_at ${integer} NOT NULL)`,
    'CREATE UNIQUE INDEX messaging_msgapp_received_id ON messaging_msgapp_received (id)',
    `CREATE INDEX messaging_msgapp_received_number ON messaging_msgapp_received (number)${dialect.indexedOnly('number')}`,
    `CREATE INDEX messaging_msgapp_received_contact ON messaging_msgapp_received (contact_id)${dialect.indexedOnly('contact_id')}`,
    'CREATE INDEX messaging_msgapp_received_age ON messaging_msgapp_received (received_at)',

    // The people who wrote to linked numbers, each once for a linked number, because an app's identity may hold for it only.
    // identity: the app's identity of the person; null if the app gave none.
    // number: null while the app hides it.
    // name: the name that the person chose in the app; null if it is not known.
    // merged_into: the contact that stands for this one, if two turned out to be one person. Then the other columns are null.
    // seen_at: when the person last wrote, to the day.
    `CREATE TABLE messaging_contact (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, channel ${id} NOT NULL, linked ${id} NOT NULL,
      identity ${name}, number ${id}, name ${text}, merged_into ${id}, seen_at ${integer} NOT NULL)`,
    `CREATE INDEX messaging_contact_number ON messaging_contact (number)${dialect.indexedOnly('number')}`,
    `CREATE INDEX messaging_contact_merged ON messaging_contact (merged_into)${dialect.indexedOnly('merged_into')}`,
    'CREATE INDEX messaging_contact_age ON messaging_contact (seen_at)',

    // Which contact an identity or a number belongs to.
    // name: a hash of the account, the channel, the linked number and the address. One further row for each linked number is the
    //   lock that a change of its contacts takes; its contact_id is ''.
    `CREATE TABLE messaging_contact_address (
      name ${id} NOT NULL PRIMARY KEY, contact_id ${id} NOT NULL)`,

    // What is to be done to received messages by the process that has the session: the rows of other processes wait here for a
    // moment. emoji: of a reaction, '' to take it back; null if the message is to be shown as read.
    `CREATE TABLE messaging_msgapp_act (
      id ${id} NOT NULL PRIMARY KEY, session_id ${id} NOT NULL, received_id ${id} NOT NULL, emoji ${id},
      asked_at ${integer} NOT NULL)`,
    'CREATE INDEX messaging_msgapp_act_session ON messaging_msgapp_act (session_id, id)',
    'CREATE INDEX messaging_msgapp_act_age ON messaging_msgapp_act (asked_at)',

    // The addresses that apps' servers gave for numbers, for all sessions, channels and accounts. app: the transport's name.
    `CREATE TABLE messaging_msgapp_address (
      number ${id} NOT NULL, app ${id} NOT NULL, address ${name} NOT NULL, learned_at ${integer} NOT NULL,
      PRIMARY KEY (number, app))${dialect.clustered}`,
    'CREATE INDEX messaging_msgapp_address_age ON messaging_msgapp_address (learned_at)',
  ];
}
