import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** The tables of endpoints, which receive events by HTTP, and of the calls to them. */
export function webhookTables(dialect: Dialect): string[] {
  const { id, name, text, integer, small } = columnTypes(dialect);
  return [
    // types: JSON, null for all. signature: hmac or ed25519. versions: JSON, the versions of the secret that sign, the newest
    // first, each with its end. cursor_at: events up to this number were called or are in `messaging_endpoint_retry`.
    // failing_since: since when every call has failed. rests_until: the time that the endpoint named in Retry-After. owner,
    // lease_until, epoch: the process that calls it.
    `CREATE TABLE messaging_endpoint (
      id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, url ${text} NOT NULL, types ${text}, ordering ${id} NOT NULL,
      batch_max ${integer} NOT NULL, wait_ms ${integer} NOT NULL, signature ${id} NOT NULL, versions ${text} NOT NULL,
      description ${text}, status ${id} NOT NULL, reason ${id}, cursor_at ${integer} NOT NULL,
      failing_since ${integer}, rests_until ${integer}, owner ${name}, lease_until ${integer} NOT NULL, epoch ${integer} NOT NULL,
      created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_endpoint_account ON messaging_endpoint (account_id, created_at, id)',
    // Each call to an inbox of the sandbox looks for the endpoints with its URL.
    `CREATE INDEX messaging_endpoint_url ON messaging_endpoint (${dialect.indexedText('url')})`,

    // The pending calls of the code (`PendingCalls`): events that are called again automatically. tries: calls so far. due_at:
    // null if the event has failed for good. batch: the id of the batch that the retries repeat.
    `CREATE TABLE messaging_endpoint_retry (
      endpoint_id ${id} NOT NULL, sequence ${integer} NOT NULL, tries ${integer} NOT NULL, due_at ${integer},
      batch ${id}, PRIMARY KEY (endpoint_id, sequence))${dialect.clustered}`,
    `CREATE INDEX messaging_endpoint_retry_due ON messaging_endpoint_retry (endpoint_id, due_at)${dialect.indexedOnly('due_at')}`,

    // The windows of the log that are called again. position: the number up to which they were called. types: JSON, null for all.
    `CREATE TABLE messaging_endpoint_replay (
      id ${id} NOT NULL PRIMARY KEY, endpoint_id ${id} NOT NULL, position ${integer} NOT NULL, up_to ${integer} NOT NULL,
      types ${text})${dialect.clustered}`,
    'CREATE INDEX messaging_endpoint_replay_listing ON messaging_endpoint_replay (endpoint_id, id)',

    // One row per call, or per run of calls that ended alike. The request is rendered from the log.
    // first, last: the numbers of its events.
    // reply: the shortened response.
    // calls: JSON, null for one call. For each call of a run: when it began and how long it took, counted from `at` and `ms` of
    //   the last call, and how many events it had. The id of each call is made from `id` and the call's place.
    `CREATE TABLE messaging_endpoint_attempt (
      id ${id} NOT NULL PRIMARY KEY, endpoint_id ${id} NOT NULL, first ${integer} NOT NULL, last ${integer} NOT NULL,
      sequences ${text} NOT NULL, at ${integer} NOT NULL, ms ${integer} NOT NULL, ok ${small} NOT NULL, status ${integer},
      error ${text}, reply ${text}, calls ${text})${dialect.clustered}`,
    'CREATE INDEX messaging_endpoint_attempt_listing ON messaging_endpoint_attempt (endpoint_id, at, id)',
    // This index lets a reader of failed calls skip the others.
    'CREATE INDEX messaging_endpoint_attempt_result ON messaging_endpoint_attempt (endpoint_id, ok, at, id)',
    'CREATE INDEX messaging_endpoint_attempt_age ON messaging_endpoint_attempt (at)',
  ];
}
