import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';
import { CHANGING } from '../storage/schema/upkeep.js';

/** The tables of the event logs. */
export function eventTables(dialect: Dialect): string[] {
  const { id, text, integer, small, serial } = columnTypes(dialect);
  return [
    // One row per account.
    // id: the account's.
    // sequence: the number of its last event.
    // began: the number of the first event since the log was last switched on.
    // earliest: the lowest number that is kept, or the next number if none is kept.
    // recording: 1 while changes are recorded, 2 after the log was switched off, 0 before it was ever on.
    // used_at: when the log was last switched on or read.
    // epochs: JSON of `[{ from, mark }]`, the stretches of the log that have events, with the random part of their ids. Null
    //   before the log was ever on.
    `CREATE TABLE messaging_event_counter (
      id ${id} NOT NULL PRIMARY KEY, sequence ${integer} NOT NULL, began ${integer} NOT NULL DEFAULT 1,
      earliest ${integer} NOT NULL, recording ${small} NOT NULL, used_at ${integer} NOT NULL,
      epochs ${text})${dialect.clustered}`,
    // The number is in no index. Half of each page is left free, so that PostgreSQL can write the new row to the same
    // page (HOT).
    ...dialect.upkeep('messaging_event_counter', { fillfactor: 50, ...CHANGING }),

    // A row has one event or a run of events. sequence: the number of the last one. earlier: how many more events the
    //   row has, with the numbers directly below `sequence`. at: the time of the latest event.
    `CREATE TABLE messaging_event (
      account_id ${id} NOT NULL, sequence ${integer} NOT NULL, earlier ${small} NOT NULL DEFAULT 0, type ${id} NOT NULL,
      at ${integer} NOT NULL, data ${text} NOT NULL, PRIMARY KEY (account_id, sequence))`,
    // To read some types without reading the others.
    'CREATE INDEX messaging_event_type ON messaging_event (account_id, type, sequence)',

    // Events of transactions that lock no counter. They stay here for a moment, until they get their numbers.
    `CREATE TABLE messaging_event_mark (
      id ${serial} PRIMARY KEY, account_id ${id} NOT NULL, type ${id} NOT NULL, at ${integer} NOT NULL, data ${text} NOT NULL)`,
    ...dialect.upkeep('messaging_event_mark', CHANGING),
  ];
}
