import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** The tables of campaigns, of the recipients that wait in them, and of the sends that they became. */
export function campaignTables(dialect: Dialect): string[] {
  const { id, name, text, integer, small } = columnTypes(dialect);
  return [
    // template: the name of the template that content is a copy of. valid_for: milliseconds from the acceptance of each SMS.
    // delivery_window: JSON. national: 1 if numbers of the home market may be given in national form. metadata: JSON. sender_key: JSON,
    // the API key that started it. batches: imports up to this number are complete. importing_until: the end of the lease of a
    // running import; 0 if none runs and no rows of an unfinished one are left. recipients: all of the complete imports.
    // accepted: how many of them have left it. place: the phone of the last of these. units: what they cost. due_at: no SMS is
    // accepted before (speed limit). paced_at, paced_from: the time and `accepted` of the last start or resume. folded_to, folded:
    // the final counts of the first slices. working: 1 if a process must
    // look after it. owner, lease_until, epoch: the process that does.
    `CREATE TABLE messaging_campaign (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, name ${text} NOT NULL, signature ${name} NOT NULL,
      content ${text} NOT NULL, template ${name}, send_at ${integer}, per_minute ${integer}, valid_for ${integer},
      delivery_window ${text},
      metadata ${text}, national ${small} NOT NULL, sender_key ${text}, status ${id} NOT NULL, pause_reason ${id},
      batches ${integer} NOT NULL, importing_until ${integer} NOT NULL, recipients ${integer} NOT NULL,
      accepted ${integer} NOT NULL, place ${id} NOT NULL, units ${integer} NOT NULL, due_at ${integer} NOT NULL,
      paced_at ${integer} NOT NULL, paced_from ${integer} NOT NULL, folded_to ${integer} NOT NULL, folded ${text},
      working ${small} NOT NULL, owner ${name}, lease_until ${integer} NOT NULL, epoch ${integer} NOT NULL,
      created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, started_at ${integer}, ended_at ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_campaign_account ON messaging_campaign (account_id, created_at, id)',
    'CREATE INDEX messaging_campaign_work ON messaging_campaign (working, lease_until)',
    'CREATE INDEX messaging_campaign_ended ON messaging_campaign (ended_at)',

    // The recipients that have not left their campaign. phone: the number in today's spelling, so that each phone is here once.
    // vars: JSON, null for none. batch: the number of the import. Rows of an import that is not complete are never used.
    `CREATE TABLE messaging_campaign_recipient (
      campaign_id ${id} NOT NULL, phone ${id} NOT NULL, number ${id} NOT NULL, vars ${text}, batch ${integer} NOT NULL,
      PRIMARY KEY (campaign_id, phone))${dialect.clustered}`,

    // One row per accepted send of a campaign. first: how many recipients left the campaign before it. waiting: how many of its
    // recipients wait for the carrier. counts: JSON, the recipients by state, and the refunded units, as of counted_at; null
    // before the first count. open: 1 as long as the counts can change.
    `CREATE TABLE messaging_campaign_slice (
      campaign_id ${id} NOT NULL, first ${integer} NOT NULL, message_id ${id} NOT NULL, recipients ${integer} NOT NULL,
      waiting ${integer} NOT NULL, open ${small} NOT NULL, counts ${text}, counted_at ${integer} NOT NULL,
      accepted_at ${integer} NOT NULL, PRIMARY KEY (campaign_id, first))${dialect.clustered}`,
  ];
}
