import assert from 'node:assert/strict';
import type { Campaign, NewCampaign, PendingRecipient } from '../../../../src/campaigns/campaign.js';
import { CampaignStore } from '../../../../src/campaigns/campaign-store.js';
import { RecipientStore } from '../../../../src/campaigns/recipients/recipient-store.js';
import { LeaseStore } from '../../../../src/campaigns/run/lease-store.js';
import { sliceStep } from '../../../../src/campaigns/run/slice-step.js';
import { SliceStore } from '../../../../src/campaigns/run/slice-store.js';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../src/common/time.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import type { MessagingStorage } from '../../../../src/storage/messaging-storage.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, phone, range, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';

/** The id of a campaign in these tests. */
export const CAMPAIGN_ID = 'campaign-1';

const KEY = { id: CAMPAIGN_ID, accountId: ACCOUNT };

function aCampaign(over: Partial<NewCampaign> = {}): NewCampaign {
  return {
    ...KEY,
    name: 'Soldes',
    signature: 'INFOS',
    content: 'Bonjour',
    sendAt: undefined,
    template: undefined,
    perMinute: undefined,
    validFor: undefined,
    window: undefined,
    metadata: undefined,
    national: false,
    createdAt: START,
    ...over,
  };
}

/** `count` recipients, the first of them with this index. */
function pending(count: number, first = 0): readonly PendingRecipient[] {
  return range(count).map((index) => {
    const number = phone(first + index);
    return { phone: number, number, vars: { name: `n${first + index}` } };
  });
}

/** The stores of campaigns on one storage. */
export function campaignStores(storage: MessagingStorage) {
  return {
    campaigns: storage.store(CampaignStore),
    recipients: storage.store(RecipientStore),
    leases: storage.store(LeaseStore),
    slices: storage.store(SliceStore),
    outbox: storage.store(OutboxStore),
  };
}

type Stores = ReturnType<typeof campaignStores>;

/** Makes a running campaign, and takes it for the process `owner`. */
export async function running(
  world: StorageFixture,
  count: number,
  owner = 'p1',
): Promise<Stores & { lease: { id: string; epoch: number } }> {
  const stores = campaignStores(world.storage);
  await stores.campaigns.create(aCampaign());
  await importAll(stores, pending(count));
  await stores.campaigns.change(KEY, { action: 'start', at: START });
  const [lease] = await stores.leases.take({ owner, now: START, leaseMs: MINUTE_MS }, 10);
  assert.ok(lease, 'the campaign is taken');
  return { ...stores, lease };
}

async function importAll({ recipients }: Stores, rows: readonly PendingRecipient[]): Promise<number> {
  const open = await recipients.begin(KEY, START);
  assert.ok(open, 'the import begins');
  const added = await recipients.add(open, rows, START);
  await recipients.finish(open, added, START);
  return added;
}

async function load({ leases }: Stores, lease: { readonly id: string; readonly epoch: number }): Promise<Campaign> {
  const loaded = await leases.load(lease, START);
  assert.ok(loaded, 'the campaign is ours');
  return loaded.campaign;
}

/** A send of these recipients that leave the campaign. */
export function slice(index: number, campaign: Campaign, recipients: readonly PendingRecipient[], restMs = 0): Send {
  return aSend(index, {
    recipients: recipients.map(({ number }) => ({ number, units: 1 })),
    step: sliceStep({ campaign, recipients, restMs, now: START }),
  });
}

export function campaignTests({ test }: TestRunner, world: StorageFixture): void {
  test('the rows of an import are visible together, after its last transaction', async () => {
    await world.fund(0);
    const stores = campaignStores(world.storage);
    const campaign = await stores.campaigns.create(aCampaign());
    const open = await stores.recipients.begin(KEY, START);
    assert.ok(open);
    assert.equal(await stores.recipients.add(open, pending(3), START), 3);
    assert.equal(await stores.recipients.add(open, pending(3, 2), START), 2, 'one phone is there already');
    assert.deepEqual(await stores.recipients.pending(campaign, '', 10), []);
    await stores.recipients.finish(open, 5, START);
    const found = await stores.campaigns.find(KEY);
    assert.ok(found);
    assert.deepEqual([found.recipients, found.batches], [5, 1]);
    assert.deepEqual(await stores.recipients.pending(found, '', 10), pending(5));
    assert.deepEqual(await stores.recipients.pending(found, phone(2), 1), pending(1, 3));
  });

  test('one import at a time; what an unfinished one has stored is never used', async () => {
    await world.fund(0);
    const stores = campaignStores(world.storage);
    await stores.campaigns.create(aCampaign());
    const first = await stores.recipients.begin(KEY, START);
    assert.ok(first);
    await stores.recipients.add(first, pending(4), START);
    await assert.rejects(stores.recipients.begin(KEY, START), { code: 'error.campaign_importing' });
    await assert.rejects(stores.campaigns.change(KEY, { action: 'start', at: START }), {
      code: 'error.campaign_importing',
    });
    // The first import is taken for dead.
    const second = await stores.recipients.begin(KEY, START + DAY_MS);
    assert.ok(second);
    await assert.rejects(stores.recipients.add(first, pending(1, 8), START), { code: 'error.campaign_importing' });
    await assert.rejects(stores.recipients.finish(first, 4, START), { code: 'error.campaign_importing' });
    assert.equal(await stores.recipients.add(second, pending(2, 3), START), 2, 'nothing is there any more');
    await stores.recipients.finish(second, 2, START);
    const found = await stores.campaigns.find(KEY);
    assert.ok(found);
    assert.deepEqual(await stores.recipients.pending(found, '', 10), pending(2, 3));
  });

  test('recipients leave the campaign with their send, in order, and the counters follow', async () => {
    await world.fund(10);
    const stores = await running(world, 5);
    const first = await load(stores, stores.lease);
    const two = await stores.recipients.pending(first, first.place, 2);
    await world.accept(slice(1, first, two));
    const second = await load(stores, stores.lease);
    assert.deepEqual([second.accepted, second.place, second.units], [2, phone(1), 2]);
    assert.deepEqual(await stores.recipients.pending(second, second.place, 10), pending(3, 2));
    assert.deepEqual(
      (await stores.slices.all(second)).map(({ first, recipients, open }) => [first, recipients, open]),
      [[0, 2, true]],
    );
    await world.holds(8);
  });

  test('a slice is refused twice, after a pause, under an old lease, and before its time', async () => {
    await world.fund(10);
    const stores = await running(world, 9);
    const campaign = await load(stores, stores.lease);
    const two = await stores.recipients.pending(campaign, campaign.place, 2);
    await world.accept(slice(1, campaign, two, MINUTE_MS));
    assert.deepEqual(kinds(await world.commit(slice(2, campaign, two))), ['policy'], 'twice');
    const after = await load(stores, stores.lease);
    const next = await stores.recipients.pending(after, after.place, 2);
    assert.deepEqual(kinds(await world.commit(slice(3, after, next))), ['policy'], 'before its time');
    await stores.leases.hold(after, 0);
    await stores.campaigns.change(KEY, { action: 'pause', at: START });
    assert.deepEqual(kinds(await world.commit(slice(4, after, next))), ['policy'], 'after a pause');
    await stores.campaigns.change(KEY, { action: 'resume', at: START });
    const [other] = await stores.leases.take({ owner: 'p2', now: START + 40 * DAY_MS * 365, leaseMs: MINUTE_MS }, 10);
    if (other) {
      assert.deepEqual(kinds(await world.commit(slice(5, after, next))), ['policy'], 'under an old lease');
      assert.equal(await stores.leases.load(stores.lease, START), undefined);
      await world.accept(slice(6, await load(stores, other), next));
    }
    await world.sound();
  });

  test('a refused send leaves its recipients in the campaign', async () => {
    await world.fund(1);
    const stores = await running(world, 2);
    const campaign = await load(stores, stores.lease);
    const both = await stores.recipients.pending(campaign, '', 2);
    assert.deepEqual(kinds(await world.commit(slice(1, campaign, both))), ['insufficient_balance']);
    const after = await load(stores, stores.lease);
    assert.deepEqual([after.accepted, after.units], [0, 0]);
    assert.deepEqual(await stores.recipients.pending(after, '', 10), both);
    await world.holds(1);
  });

  test('states are counted from the deliveries, and final slices are added up', async () => {
    await world.fund(10);
    const stores = await running(world, 5);
    const campaign = await load(stores, stores.lease);
    const all = await stores.recipients.pending(campaign, '', 5);
    await world.accept(slice(1, campaign, all));
    await world.claim();
    const [id] = (await stores.slices.all(campaign)).map(({ messageId }) => messageId);
    assert.ok(id);
    const settle = (position: number, status: 'sent' | 'failed' | 'delivered', over = {}) =>
      world.settle(id, status, { position, ...over });
    await settle(0, 'delivered');
    await settle(1, 'failed', { attempt: 1 });
    await settle(2, 'sent');
    const count = async () => {
      const present = await load(stores, stores.lease);
      const counted = await stores.slices.count(await stores.slices.open(present, 10), START);
      await stores.slices.keep(present, counted, START);
      return counted;
    };
    const [counted] = await count();
    assert.ok(counted);
    const { delivered, failed, sent, queued, refunded } = counted.counts;
    assert.deepEqual(
      { delivered, failed, sent, queued, refunded },
      { delivered: 1, failed: 1, sent: 1, queued: 2, refunded: 1 },
    );
    assert.deepEqual([counted.waiting, counted.open], [2, true]);
    for (const position of [2, 3, 4]) await settle(position, 'delivered');
    await count();
    const done = await load(stores, stores.lease);
    assert.equal(done.foldedTo, 5);
    assert.deepEqual([done.folded?.delivered, done.folded?.failed, done.folded?.refunded], [4, 1, 1]);
    assert.deepEqual(await stores.slices.open(done, 10), []);
    await world.holds(6);
  });

  test('one process at a time looks after a campaign, and another one after its lease', async () => {
    await world.fund(0);
    const stores = await running(world, 1);
    const order = { owner: 'p2', now: START, leaseMs: 30 * SECOND_MS };
    assert.deepEqual(await stores.leases.take(order, 10), []);
    const mine = { owner: 'p1', now: START, leaseMs: MINUTE_MS };
    assert.deepEqual(await stores.leases.renew([stores.lease], mine), [stores.lease]);
    assert.deepEqual(await stores.leases.renew([stores.lease], order), []);
    await stores.leases.release([stores.lease], 'p1');
    assert.deepEqual(await stores.leases.take(order, 10), [{ id: CAMPAIGN_ID, epoch: stores.lease.epoch + 1 }]);
    assert.deepEqual(await stores.leases.renew([stores.lease], mine), []);
  });

  test('changes of the state are events and entries of the audit log, once', async () => {
    await world.fund(0);
    const stores = campaignStores(world.storage);
    await stores.campaigns.create(aCampaign());
    await assert.rejects(stores.campaigns.change(KEY, { action: 'start', at: START }), {
      code: 'error.campaign_empty',
    });
    await importAll(stores, pending(1));
    const by = { kind: 'host' } as const;
    for (const action of ['start', 'start', 'pause', 'pause', 'resume', 'cancel', 'cancel'] as const) {
      await stores.campaigns.change(KEY, { action, at: START, by });
    }
    await assert.rejects(stores.campaigns.change(KEY, { action: 'resume', at: START }), {
      code: 'error.campaign_state',
    });
    await assert.rejects(stores.campaigns.remove(KEY, START), { code: 'error.campaign_state' });
    const { items } = await world.audit.list({ limit: 20, accountId: ACCOUNT });
    assert.deepEqual(
      items.map(({ action }) => action).toReversed(),
      ['created', 'imported', 'started', 'paused', 'resumed', 'canceled'].map((each) => `campaign.${each}`),
    );
  });

  test('the SMS of a canceled campaign that wait are listed until they are canceled, too', async () => {
    await world.fund(10);
    const stores = await running(world, 2);
    const campaign = await load(stores, stores.lease);
    await world.accept(slice(1, campaign, await stores.recipients.pending(campaign, '', 2)));
    const [waiting, ...others] = await stores.slices.waiting(campaign, 0, 10);
    assert.ok(waiting);
    assert.deepEqual([waiting.recipients, others, await stores.slices.waiting(campaign, 1, 10)], [2, [], []]);
    const { messageId } = waiting;
    const order = { accountId: ACCOUNT, messageId, from: 0, at: START };
    const canceled = await stores.campaigns.change(KEY, { action: 'cancel', at: START });
    assert.equal(canceled?.campaign.status, 'canceled');
    assert.equal((await stores.outbox.cancel(order)).transitions.length, 2);
    await stores.slices.keep(campaign, await stores.slices.count([waiting], START), START);
    assert.deepEqual(await stores.slices.waiting(campaign, 0, 10), []);
    const { folded } = await load(stores, stores.lease);
    assert.deepEqual([folded?.canceled, folded?.refunded], [2, 2]);
    await world.holds(10);
  });

  test('a completed campaign cannot be canceled', async () => {
    await world.fund(10);
    const stores = await running(world, 1);
    const campaign = await load(stores, stores.lease);
    await world.accept(slice(1, campaign, await stores.recipients.pending(campaign, '', 1)));
    await stores.campaigns.change(KEY, { action: 'complete', at: START });
    await assert.rejects(stores.campaigns.change(KEY, { action: 'cancel', at: START }), {
      code: 'error.campaign_state',
    });
  });

  test('a draft is removed with its recipients, an ended campaign after its time', async () => {
    await world.fund(0);
    const stores = await running(world, 3);
    await stores.campaigns.change(KEY, { action: 'cancel', at: START });
    assert.equal(await stores.campaigns.purge(START, 100), 0);
    assert.equal(await stores.campaigns.purge(START + 1, 100), 4, 'three recipients and the campaign');
    assert.equal(await stores.campaigns.find(KEY), undefined);
    await stores.campaigns.create(aCampaign());
    assert.equal(await importAll(stores, pending(3)), 3);
    assert.equal(await stores.campaigns.remove({ ...KEY, accountId: 'other' }, START), false);
    assert.equal(await stores.campaigns.remove(KEY, START), true);
    await stores.campaigns.create(aCampaign());
    assert.equal(await importAll(stores, pending(3)), 3, 'none is left of the removed draft');
  });

  test('an erased number is in no campaign that it has not left', async () => {
    await world.fund(10);
    const stores = await running(world, 3);
    assert.equal(await stores.recipients.erase(phone(1), ['other']), 0);
    assert.equal(await stores.recipients.erase(phone(1), [ACCOUNT]), 1);
    assert.equal(await stores.recipients.erase(phone(1), [ACCOUNT]), 0);
    const campaign = await load(stores, stores.lease);
    assert.equal(campaign.recipients, 2);
    const rest = await stores.recipients.pending(campaign, '', 10);
    assert.deepEqual(
      rest.map(({ number }) => number),
      [phone(0), phone(2)],
    );
    await world.accept(slice(1, campaign, rest));
  });
}

/** Commits a slice on a storage with the service's own `decide`, as one of several processes would. */
export async function commitSlice(storage: MessagingStorage, send: Send): Promise<string> {
  const [outcome] = await storage.store(OutboxStore).commit([send], decide);
  return kinds(outcome ? [outcome] : []).join();
}
