import { costOf, type Send } from '../../outbox/send.js';
import type { Dialect } from './dialect.js';
import type { LaneTurns } from './lane-turns.js';
import type { Statement } from './operation.js';
import { insertRecipients } from './recipient-inserts.js';
import { shapeOf } from './rows.js';

/** Writes accepted sends: message, recipients, charge, and the reply that is kept under a key. */
export function insertSends(dialect: Dialect, sends: readonly Send[], turns: LaneTurns): Statement[] {
  const statements = [
    dialect.insertRows({
      ...{ table: 'messaging_message', shape: MESSAGE },
      rows: sends.map((send) => [
        ...[send.id, send.accountId, send.channel, send.payload.kind, send.lane ?? null, send.sender],
        ...[JSON.stringify(send.payload), costOf(send), 0, send.recipients.length, send.at],
      ]),
    }),
    ...insertRecipients(dialect, sends, turns),
    dialect.insertRows({
      ...{ table: 'messaging_ledger', shape: CHARGE },
      rows: sends.map((send) => [...[send.id, send.accountId, 'charge', send.id, -costOf(send), send.at]]),
    }),
  ];
  const keyed = sends.filter(({ once }) => once !== undefined);
  if (keyed.length > 0) {
    statements.push(
      dialect.insertRows({
        ...{ table: 'messaging_idempotency', shape: REPLY, onDuplicate: REPLACE_EXPIRED },
        rows: keyed.map(({ once, reply }) => [
          ...[once?.accountId, once?.route, once?.key, once?.fingerprint, JSON.stringify(reply), once?.expiresAt],
        ]),
      }),
    );
  }
  return statements;
}

const MESSAGE = shapeOf(
  'id account_id channel kind lane sender payload',
  'units refunded_units recipients accepted_at',
);
const CHARGE = shapeOf('id account_id kind message_id', 'units posted_at');
const REPLY = shapeOf('account_id route once_key fingerprint reply', 'expires_at');

// A live reply would have been replayed under the account's lock, so what stands in the way has expired.
const REPLACE_EXPIRED = ['account_id, route, once_key', ['fingerprint', 'reply', 'expires_at']] as const;
