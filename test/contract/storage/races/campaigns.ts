import assert from 'node:assert/strict';
import { CampaignStore } from '../../../../src/campaigns/campaign-store.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { CAMPAIGN_ID, campaignStores, commitSlice, running, slice } from '../campaigns/campaigns.js';
import { ACCOUNT, START } from '../fixtures.js';
import { atOnce, type Race } from './race.js';

/** Races for the recipients of campaigns. */
export const CAMPAIGN_RACES: Readonly<Record<string, Race>> = {
  'the same recipients accepted 10 times at once: they leave the campaign once, and are charged once': async (
    world,
    hand,
  ) => {
    await world.fund(100);
    const { leases, lease } = await running(world, 5);
    const loaded = await leases.load(lease, START);
    assert.ok(loaded);
    const { campaign } = loaded;
    const recipients = await campaignStores(world.storage).recipients.pending(campaign, '', 5);
    const outcomes = await atOnce(10, (index) => commitSlice(hand(index), slice(index, campaign, recipients)));
    assert.equal(outcomes.filter((outcome) => outcome === 'accepted').length, 1);
    const after = await leases.load(lease, START);
    assert.deepEqual([after?.campaign.accepted, after?.campaign.units], [5, 5]);
    await world.holds(95);
  },

  'slices and pauses at once: what the campaign has counted is what was charged': async (world, hand) => {
    await world.fund(100);
    const { leases, lease, recipients } = await running(world, 40);
    const key = { id: CAMPAIGN_ID, accountId: ACCOUNT };
    await atOnce(20, async (index) => {
      if (index % 4 === 0) {
        const action = index % 8 === 0 ? 'pause' : 'resume';
        await hand(index).store(CampaignStore).change(key, { action, at: START });
        return;
      }
      const loaded = await leases.load(lease, START);
      assert.ok(loaded);
      const next = await recipients.pending(loaded.campaign, loaded.campaign.place, 3);
      await commitSlice(hand(index), slice(index, loaded.campaign, next));
    });
    const { campaign } = (await leases.load(lease, START)) ?? {};
    assert.ok(campaign);
    const slices = await campaignStores(world.storage).slices.all(campaign);
    assert.equal(campaign.accepted, slices.length * 3);
    assert.equal(campaign.units, campaign.accepted);
    await world.holds(100 - campaign.accepted);
  },

  'slices, a worker and two cancellations at once: what nobody has claimed is refunded once': async (world, hand) => {
    await world.fund(100);
    const { leases, lease, recipients, slices } = await running(world, 40);
    const key = { id: CAMPAIGN_ID, accountId: ACCOUNT };
    const load = async () => {
      const loaded = await leases.load(lease, START);
      assert.ok(loaded);
      return loaded.campaign;
    };
    await atOnce(12, async (index) => {
      if (index === 7)
        return void (await hand(index).store(CampaignStore).change(key, { action: 'cancel', at: START }));
      const campaign = await load();
      const next = await recipients.pending(campaign, campaign.place, 3);
      if (campaign.status === 'running') await commitSlice(hand(index), slice(index, campaign, next));
    });
    const campaign = await load();
    assert.equal(campaign.status, 'canceled');
    const waiting = await slices.waiting(campaign, 0, 100);
    assert.equal(waiting.length * 3, campaign.accepted);
    await atOnce(3, async (index) => {
      if (index === 2) return void (await world.claim());
      for (const { messageId } of waiting) {
        const order = { accountId: ACCOUNT, messageId, from: 0, at: START };
        await hand(index).store(OutboxStore).cancel(order);
      }
    });
    let [canceled, refunded, queued] = [0, 0, 0];
    for (const { counts } of await slices.count(waiting, START)) {
      canceled += counts.canceled;
      refunded += counts.refunded;
      queued += counts.queued;
    }
    assert.deepEqual([canceled + queued, refunded], [campaign.accepted, canceled]);
    await world.holds(100 - campaign.accepted + refunded);
  },
};
