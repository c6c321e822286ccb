import { accountTests, apiKeyTests, signatureTests } from './storage-contract/accounts.js';
import { addressTests } from './storage-contract/addresses.js';
import { auditTests } from './storage-contract/audit.js';
import { bookTests } from './storage-contract/books.js';
import { claimTests, nextDueTests, unwaitingTests } from './storage-contract/claims.js';
import { commitTests } from './storage-contract/commit.js';
import { contentTests } from './storage-contract/contents.js';
import { durabilityTests } from './storage-contract/durability.js';
import { endpointTests } from './storage-contract/endpoints.js';
import { eventBatchTests } from './storage-contract/events/batches.js';
import { eventTests } from './storage-contract/events/events.js';
import { toldTests } from './storage-contract/events/told.js';
import { expireTests } from './storage-contract/expire.js';
import { onceKeyTests, replyTests } from './storage-contract/idempotency.js';
import { keyCapTests } from './storage-contract/key-caps.js';
import { laneTests } from './storage-contract/lanes.js';
import { ledgerTests } from './storage-contract/ledger.js';
import { listingTests } from './storage-contract/listing.js';
import { mediaTests } from './storage-contract/media.js';
import { metadataTests } from './storage-contract/metadata.js';
import { optOutTests } from './storage-contract/opt-outs.js';
import { overviewTests } from './storage-contract/overview.js';
import { partTests } from './storage-contract/parts/parts.js';
import { pausedTests } from './storage-contract/paused.js';
import { phoneTests } from './storage-contract/phones.js';
import { priorityTests } from './storage-contract/priorities.js';
import { raceTests } from './storage-contract/races/races.js';
import { receivedMessageTests } from './storage-contract/received-messages.js';
import { receivedTextTests } from './storage-contract/received-texts.js';
import { recordTests } from './storage-contract/records.js';
import { refundTests } from './storage-contract/refunds.js';
import { erasureTests } from './storage-contract/retention/erasure.js';
import { retentionTests } from './storage-contract/retention/retention.js';
import { credentialTests } from './storage-contract/sessions/credentials.js';
import { leaseTests, sessionAgeTests } from './storage-contract/sessions/leases.js';
import { sessionLimitTests } from './storage-contract/sessions/limits.js';
import { sessionTests } from './storage-contract/sessions/sessions.js';
import { settleTests, trailTests } from './storage-contract/settle.js';
import type { OpenStorage, StoragePart } from './storage-contract/storage-harness.js';
import { telemetryTests } from './storage-contract/telemetry.js';
import { globalRunner, partRunner, type TestRunner } from './storage-contract/test-runner.js';
import { usageTests } from './storage-contract/usage.js';
import { userSessionTests } from './storage-contract/user-sessions.js';
import { walkTests } from './storage-contract/walk.js';
import { World } from './storage-contract/world.js';

export type {
  OpenStorage,
  StorageHarness,
  StoragePart,
  StorageTamper,
  StoredUnits,
} from './storage-contract/storage-harness.js';
export type { TestRunner } from './storage-contract/test-runner.js';

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
  claims: claimTests,
  priorities: priorityTests,
  'paused accounts': pausedTests,
  lanes: laneTests,
  settle: settleTests,
  trail: trailTests,
  refunds: refundTests,
  expire: expireTests,
  events: eventTests,
  'events of a large batch': eventBatchTests,
  'what is told': toldTests,
  'next due': nextDueTests,
  listings: listingTests,
  metadata: metadataTests,
  phones: phoneTests,
  'parts and receipts': partTests,
  'opt-outs': optOutTests,
  endpoints: endpointTests,
  'user sessions': userSessionTests,
  'received texts': receivedTextTests,
  'policy records': recordTests,
  sessions: sessionTests,
  'limits of sessions': sessionLimitTests,
  'leases of sessions': leaseTests,
  'credentials of sessions': credentialTests,
  'age of sessions': sessionAgeTests,
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
 * Registers the contract tests for a storage adapter: all promises of the ports, races included. Tests that need a
 * part that the harness lacks are skipped where `lacks` names it, and fail otherwise. Allow each test some seconds: one
 * stores 10 000 recipients.
 *
 * @param name the adapter's name in reports
 * @param open returns a started storage on an empty database; called before each test
 * @param runner registers the tests. Default: the global functions of Jest and Vitest (`globals: true`). With `node:test`
 *   pass its `{ describe, test, beforeEach, afterEach }`
 * @param lacks the optional parts that the harness does not have
 * @throws Error without `runner` where there are no such globals
 * @example
 * ```ts
 * async function open() {
 *   const storage = new MyStorage(await anEmptyDatabase());
 *   await storage.start();
 *   return { storage, close: () => storage.stop() };
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
    const world = new World();
    const parts = partRunner(runner, lacks);
    runner.beforeEach(() => world.open(open));
    runner.afterEach(() => world.close());
    for (const [topic, register] of Object.entries(TOPICS)) runner.describe(topic, () => register(parts, world));
  });
}
