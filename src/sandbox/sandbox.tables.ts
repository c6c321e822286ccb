import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

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
