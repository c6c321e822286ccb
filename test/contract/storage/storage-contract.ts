import { globalRunner, partRunner, type TestRunner } from '../test-runner.js';
import { accountTests, apiKeyTests, signatureTests } from './accounts/accounts.js';
import { auditTests } from './accounts/audit.js';
import { bookTests } from './accounts/books.js';
import { keyCapTests } from './accounts/key-caps.js';
import { ledgerTests } from './accounts/ledger.js';
import { overviewTests } from './accounts/overview.js';
import { usageTests } from './accounts/usage.js';
import { userSessionTests } from './accounts/user-sessions.js';
import { campaignTests } from './campaigns/campaigns.js';
import { statusCallbackTests } from './compat/status-callbacks.js';
import { eventBatchTests } from './events/batches.js';
import { eventTests } from './events/events.js';
import { publishedEventTests } from './events/published.js';
import { loginHookTests } from './hooks/login-hooks.js';
import { mediaTests } from './media/media.js';
import { actTests } from './msgapp/acts.js';
import { addressTests } from './msgapp/addresses.js';
import { contactTests } from './msgapp/contacts.js';
import { receivedMessageTests } from './msgapp/received-messages.js';
import { credentialTests } from './msgapp/sessions/credentials.js';
import { leaseTests, sessionAgeTests } from './msgapp/sessions/leases.js';
import { sessionLimitTests } from './msgapp/sessions/limits.js';
import { sessionTests } from './msgapp/sessions/sessions.js';
import { claimTests, nextDueTests, unwaitingTests } from './outbox/claims.js';
import { commitTests } from './outbox/commit.js';
import { contentTests } from './outbox/contents.js';
import { durabilityTests } from './outbox/durability.js';
import { expireTests } from './outbox/expire.js';
import { onceKeyTests, replyTests } from './outbox/idempotency.js';
import { laneTests } from './outbox/lanes.js';
import { listingTests } from './outbox/listing.js';
import { metadataTests } from './outbox/metadata.js';
import { pausedTests } from './outbox/paused.js';
import { personalTests } from './outbox/personal.js';
import { priorityTests } from './outbox/priorities.js';
import { recordTests } from './outbox/records.js';
import { refundTests } from './outbox/refunds.js';
import { erasureTests } from './outbox/retention/erasure.js';
import { retentionTests } from './outbox/retention/retention.js';
import { schedulingTests } from './outbox/scheduling.js';
import { settleTests, trailTests } from './outbox/settle.js';
import { stepTests } from './outbox/steps.js';
import { telemetryTests } from './outbox/telemetry.js';
import { validityTests } from './outbox/validity.js';
import { walkTests } from './outbox/walk.js';
import { raceTests } from './races/races.js';
import { optOutTests } from './sms/opt-outs.js';
import { partTests } from './sms/parts/parts.js';
import { phoneTests } from './sms/phones.js';
import { receivedTextTests } from './sms/received-texts.js';
import { routeRecipientTests } from './sms/route-recipients.js';
import { templateTests } from './sms/templates.js';
import { StorageFixture } from './storage-fixture.js';
import type { OpenStorage, StoragePart } from './storage-harness.js';
import { endpointTests } from './webhooks/endpoints.js';

export type { TestRunner } from '../test-runner.js';
export type {
  OpenStorage,
  StorageHarness,
  StoragePart,
  StorageTamper,
  StoredUnits,
} from './storage-harness.js';

const TOPICS = {
  accounts: accountTests,
  'API keys': apiKeyTests,
  signatures: signatureTests,
  ledger: ledgerTests,
  commit: commitTests,
  'commit without waiting': unwaitingTests,
  contents: contentTests,
  'idempotency keys': onceKeyTests,
  'kept replies': replyTests,
  'caps of keys': keyCapTests,
  'steps of sends': stepTests,
  'status callbacks': statusCallbackTests,
  claims: claimTests,
  priorities: priorityTests,
  'paused accounts': pausedTests,
  lanes: laneTests,
  settle: settleTests,
  trail: trailTests,
  refunds: refundTests,
  expire: expireTests,
  scheduling: schedulingTests,
  validity: validityTests,
  events: eventTests,
  'events of a large batch': eventBatchTests,
  'published events': publishedEventTests,
  'next due': nextDueTests,
  listings: listingTests,
  metadata: metadataTests,
  'personal texts': personalTests,
  phones: phoneTests,
  'parts and receipts': partTests,
  'opt-outs': optOutTests,
  templates: templateTests,
  'recipients of routes': routeRecipientTests,
  endpoints: endpointTests,
  'log-in hooks': loginHookTests,
  campaigns: campaignTests,
  'user sessions': userSessionTests,
  'received texts': receivedTextTests,
  'policy records': recordTests,
  sessions: sessionTests,
  'limits of sessions': sessionLimitTests,
  'leases of sessions': leaseTests,
  'credentials of sessions': credentialTests,
  'age of sessions': sessionAgeTests,
  contacts: contactTests,
  'acts on received messages': actTests,
  'received messages': receivedMessageTests,
  'addresses of numbers': addressTests,
  media: mediaTests,
  telemetry: telemetryTests,
  retention: retentionTests,
  erasure: erasureTests,
  usage: usageTests,
  overview: overviewTests,
  'audit log': auditTests,
  books: bookTests,
  'a long walk': walkTests,
  races: raceTests,
  durability: durabilityTests,
};

/**
 * Registers the contract tests for a storage adapter: all promises of the ports, races included. Tests that need a part
 * that the harness lacks are skipped if `lacks` names it, and fail otherwise. Allow each test some seconds: one stores
 * 10 000 recipients.
 *
 * @param name the adapter's name in reports
 * @param open returns a started storage on an empty database; called before each test
 * @param runner registers the tests. Default: the global functions of Jest and Vitest (`globals: true`). With
 * `node:test`
 * pass its `{ describe, test, beforeEach, afterEach }`
 * @param lacks the optional parts that the harness does not have
 * @throws Error without `runner` if there are no such globals
 * @example
 * ```ts
 * async function open() {
 * const storage = new MyStorage(await anEmptyDatabase());
 * await storage.start();
 * return { storage, close: () => storage.stop() };
 * }
 * describeStorage('my storage', open, undefined, ['reopen', 'another', 'tamper', 'messageUnits', 'recipientUnits']);
 * ```
 */
export function describeStorage(
  name: string,
  open: OpenStorage,
  runner: TestRunner = globalRunner(),
  lacks: readonly StoragePart[] = [],
): void {
  runner.describe(name, () => {
    const world = new StorageFixture();
    const parts = partRunner(runner, lacks);
    runner.beforeEach(() => world.open(open));
    runner.afterEach(() => world.close());
    for (const [topic, register] of Object.entries(TOPICS)) runner.describe(topic, () => register(parts, world));
  });
}
