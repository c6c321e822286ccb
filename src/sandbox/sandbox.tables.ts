import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/**
 * The tables of the messages that the sandbox's phones have received, and of those that did not arrive, which the page shows too.
 */
export function sandboxTables(dialect: Dialect): string[] {
  return [...messagesIn('messaging_phone_message', dialect), ...messagesIn('messaging_phone_lost', dialect)];
}

function messagesIn(table: string, dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // received_at: when the message arrived, or the time of the first attempt if it did not.
    // position: the recipient's place in the send, to find the state of its delivery.
    // quote: the text of the message that it answers; null if it answers none.
    // file_id: the phone's copy of the file.
    `CREATE TABLE ${table} (
      number ${id} NOT NULL, channel ${id} NOT NULL, message_id ${id} NOT NULL, sender ${name} NOT NULL,
      body ${text} NOT NULL, media ${text}, quote ${text}, received_at ${integer} NOT NULL, position ${integer}, file_id ${id},
      PRIMARY KEY (number, channel, message_id))${dialect.clustered}`,
    `CREATE INDEX ${table}_latest ON ${table} (received_at)`,
  ];
}
