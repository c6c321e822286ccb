import type { MigrationInterface } from 'typeorm';
import { auditByTime, auditTable, keyLimits } from '../accounts/accounts.tables.js';
import { eventEpochs, eventRuns, eventTables } from '../events/events.tables.js';
import { operatingTables } from '../management/operator/operations/operator.tables.js';
import {
  userLinkSubjects,
  userSessionSubjects,
  userSessionTables,
} from '../management/session/user-sessions.tables.js';
import { usageTables } from '../management/usage/usage.tables.js';
import { msgappTables, receivedMessages, recipientAddresses, sessionListings } from '../msgapp/msgapp.tables.js';
import { claimOrder, coreTables, retention, upkeep } from '../outbox/outbox.tables.js';
import { sandboxScreens, sandboxTables } from '../sandbox/sandbox.tables.js';
import { hashedOptOuts, longTexts, receivedTexts, smsTables } from '../sms/sms.tables.js';
import { migrationsOf } from '../storage/schema/migrate.js';
import type { SchemaGroup } from '../storage/schema/versions.js';
import { attemptRuns, endpointsByUrl, webhookTables } from '../webhooks/webhooks.tables.js';

/** All our tables. Groups are applied in this order, each with all its versions. */
export const SCHEMA: readonly SchemaGroup[] = [
  {
    name: 'core',
    versions: [
      { name: '0001-initial', up: coreTables },
      { name: '0002-queue', up: claimOrder },
      { name: '0003-retention', up: retention },
      { name: '0004-upkeep', up: upkeep },
      { name: '0005-events', up: eventTables },
      { name: '0006-key-limits', up: keyLimits },
      { name: '0007-audit', up: auditTable },
      { name: '0008-operating', up: operatingTables },
      { name: '0009-audit-by-time', up: auditByTime },
      { name: '0010-event-runs', up: eventRuns },
      { name: '0011-event-epochs', up: eventEpochs },
    ],
  },
  {
    name: 'sms',
    versions: [
      { name: '0001-initial', up: smsTables },
      { name: '0002-hashed-opt-outs', up: hashedOptOuts },
      { name: '0003-received', up: receivedTexts },
      { name: '0004-long-texts', up: longTexts },
    ],
  },
  {
    name: 'msgapp',
    versions: [
      { name: '0001-initial', up: msgappTables },
      { name: '0002-received', up: receivedMessages },
      { name: '0003-listings', up: sessionListings },
      { name: '0004-addresses', up: recipientAddresses },
    ],
  },
  {
    name: 'webhooks',
    versions: [
      { name: '0001-initial', up: webhookTables },
      { name: '0002-attempt-runs', up: attemptRuns },
      { name: '0003-by-url', up: endpointsByUrl },
    ],
  },
  {
    name: 'management',
    versions: [
      { name: '0001-sessions', up: userSessionTables },
      { name: '0002-usage', up: usageTables },
      { name: '0003-session-subjects', up: userSessionSubjects },
      { name: '0004-link-subjects', up: userLinkSubjects },
    ],
  },
  {
    name: 'sandbox',
    versions: [
      { name: '0001-initial', up: sandboxTables },
      { name: '0002-screens', up: sandboxScreens },
    ],
  },
];

/**
 * Our schema as TypeORM migrations, for hosts that run all migrations themselves (`migrations: 'check'`): one for each
 * version, as TypeORM runs a migration once. Each `up` applies all versions that the database lacks. The `down` of the
 * first one drops all our tables; the others have an empty `down`, as the tables hold messages by then.
 *
 * @example
 * ```ts
 * new DataSource({ type: 'postgres', url, migrations: [...messagingMigrations, AddOrders1700000000000] });
 * ```
 */
export const messagingMigrations: (new () => MigrationInterface)[] = migrationsOf(SCHEMA);
