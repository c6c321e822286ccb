import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** The tables of SMS: parts that carriers have accepted, their receipts, opt-outs, templates, and texts of phones. */
export function smsTables(dialect: Dialect): string[] {
  const { id, name, text, integer } = columnTypes(dialect);
  return [
    // One row per part that a carrier has accepted. carrier_id: empty if the carrier gave none.
    `CREATE TABLE messaging_sms_part (
      message_id ${id} NOT NULL, position ${integer} NOT NULL, attempt ${integer} NOT NULL, part ${integer} NOT NULL,
      parts ${integer} NOT NULL, route ${id} NOT NULL, carrier_id ${id} NOT NULL, number ${id} NOT NULL,
      status ${id} NOT NULL, error ${text}, recorded_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL, PRIMARY KEY (message_id, position, attempt, part))${dialect.clustered}`,
    'CREATE INDEX messaging_sms_part_carrier ON messaging_sms_part (route, carrier_id, number)',
    'CREATE INDEX messaging_sms_part_expiry ON messaging_sms_part (expires_at)',

    // Receipts that arrived before their part was stored, one row for each id that the part may have. counts_for: the route
    // on one row of each receipt and null on its other rows (up to 15), so that counting a route's receipts reads one row
    // each.
    `CREATE TABLE messaging_sms_parked (
      receipt_id ${id} NOT NULL, carrier_id ${id} NOT NULL, route ${id} NOT NULL, counts_for ${id},
      receipt ${text} NOT NULL, expires_at ${integer} NOT NULL, PRIMARY KEY (receipt_id, carrier_id))${dialect.clustered}`,
    'CREATE INDEX messaging_sms_parked_carrier ON messaging_sms_parked (route, carrier_id)',
    'CREATE INDEX messaging_sms_parked_expiry ON messaging_sms_parked (expires_at)',
    `CREATE INDEX messaging_sms_parked_count ON messaging_sms_parked (counts_for, expires_at, receipt_id)${dialect.indexedOnly('counts_for')}`,

    // Transactions only lock these rows, so that parts and receipts of a route are recorded one after the other.
    `CREATE TABLE messaging_sms_route (id ${id} NOT NULL PRIMARY KEY)${dialect.clustered}`,

    // Numbers that a route with the option distinctRecipients has sent to, one row for each place of the route.
    // recipient: a hash of the number. expires_at: until when the number counts.
    `CREATE TABLE messaging_sms_route_recipient (
      route ${id} NOT NULL, place ${integer} NOT NULL, recipient ${id} NOT NULL, expires_at ${integer} NOT NULL,
      PRIMARY KEY (route, place))${dialect.clustered}`,
    'CREATE UNIQUE INDEX messaging_sms_route_recipient_number ON messaging_sms_route_recipient (route, recipient)',
    'CREATE INDEX messaging_sms_route_recipient_expiry ON messaging_sms_route_recipient (expires_at)',

    // Numbers that have opted out of a signature of an account. Account '*': of all accounts.
    `CREATE TABLE messaging_opt_out (
      account_id ${id} NOT NULL, signature ${name} NOT NULL, number ${id} NOT NULL, id ${id} NOT NULL,
      source ${id} NOT NULL, added_at ${integer} NOT NULL, PRIMARY KEY (account_id, signature, number))${dialect.clustered}`,
    'CREATE UNIQUE INDEX messaging_opt_out_id ON messaging_opt_out (id)',
    'CREATE INDEX messaging_opt_out_listing ON messaging_opt_out (account_id, added_at, id)',

    // One row per signature that ever had an opt-out. For all others no number needs a look-up.
    // hashed_at: since when the list may have the keyed hashes of erased numbers, whose opt-outs stay in force.
    `CREATE TABLE messaging_opt_out_list (
      account_id ${id} NOT NULL, signature ${name} NOT NULL, hashed_at ${integer},
      PRIMARY KEY (account_id, signature))${dialect.clustered}`,

    // Texts that an account's sends use by name.
    `CREATE TABLE messaging_template (
      account_id ${id} NOT NULL, name ${id} NOT NULL, content ${text} NOT NULL, signature ${name},
      created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, PRIMARY KEY (account_id, name))${dialect.clustered}`,

    // Texts that phones have sent, to recognise a repeat.
    // id: a hash of what identifies the text.
    // text_id: the id of its events.
    `CREATE TABLE messaging_sms_received (
      id ${id} NOT NULL PRIMARY KEY, text_id ${id} NOT NULL, expires_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_sms_received_expiry ON messaging_sms_received (expires_at)',

    // Long texts of phones of which some parts are still missing. These are few rows for a short time, so searches read all.
    // content: where the text comes from, and its parts. It is JSON, because a part may have half of an emoji.
    `CREATE TABLE messaging_sms_long (
      id ${id} NOT NULL PRIMARY KEY, phone ${id} NOT NULL, revision ${id} NOT NULL, content ${text} NOT NULL,
      characters ${integer} NOT NULL, expires_at ${integer} NOT NULL)${dialect.clustered}`,
  ];
}
