import type { MigrationInterface } from 'typeorm';
import { accountTables } from '../accounts/accounts.tables.js';
import { billingTables } from '../billing/billing.tables.js';
import { campaignTables } from '../campaigns/campaigns.tables.js';
import { compatTables } from '../compat/compat.tables.js';
import { eventTables } from '../events/events.tables.js';
import { loginHookTables } from '../hooks/hooks.tables.js';
import { managementTables } from '../management/management.tables.js';
import { mediaTables } from '../media/media.tables.js';
import { msgappTables } from '../msgapp/msgapp.tables.js';
import { outboxTables } from '../outbox/outbox.tables.js';
import { sandboxTables } from '../sandbox/sandbox.tables.js';
import { smsTables } from '../sms/sms.tables.js';
import { migrationsOf } from '../storage/schema/migrate.js';
import type { SchemaGroup } from '../storage/schema/versions.js';
import { webhookTables } from '../webhooks/webhooks.tables.js';

/** All our tables, one group for each capability. The groups are applied in this order, each with all its versions. */
export const SCHEMA: readonly SchemaGroup[] = [
  { name: 'accounts', versions: [{ name: '0001-initial', up: accountTables }] },
  { name: 'billing', versions: [{ name: '0001-initial', up: billingTables }] },
  { name: 'events', versions: [{ name: '0001-initial', up: eventTables }] },
  { name: 'outbox', versions: [{ name: '0001-initial', up: outboxTables }] },
  { name: 'media', versions: [{ name: '0001-initial', up: mediaTables }] },
  { name: 'sms', versions: [{ name: '0001-initial', up: smsTables }] },
  { name: 'campaigns', versions: [{ name: '0001-initial', up: campaignTables }] },
  { name: 'msgapp', versions: [{ name: '0001-initial', up: msgappTables }] },
  { name: 'webhooks', versions: [{ name: '0001-initial', up: webhookTables }] },
  { name: 'hooks', versions: [{ name: '0001-initial', up: loginHookTables }] },
  { name: 'management', versions: [{ name: '0001-initial', up: managementTables }] },
  { name: 'compat', versions: [{ name: '0001-initial', up: compatTables }] },
  { name: 'sandbox', versions: [{ name: '0001-initial', up: sandboxTables }] },
];

/**
 * Our schema as TypeORM migrations, for hosts that run all migrations themselves (`migrations: 'check'`): one for each
 * version, because TypeORM runs a migration only once. Each `up` applies all versions that the database lacks. The
 * `down` of the first one drops all our tables; the others do nothing in `down`, because the tables contain messages by
 * then.
 *
 * @example
 * ```ts
 * new DataSource({ type: 'postgres', url, migrations: [...messagingMigrations, AddOrders1700000000000] });
 * ```
 */
export const messagingMigrations: (new () => MigrationInterface)[] = migrationsOf(SCHEMA);
