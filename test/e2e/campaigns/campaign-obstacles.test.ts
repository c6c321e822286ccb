import { expect, test } from '@jest/globals';
import type { CampaignView } from '../../../src/campaigns/campaign.api.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { CampaignCalls, homeNumbers } from '../../support/campaigns/campaign-app.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { startManage } from '../../support/management/manage-app.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

unmountAfterEach();

describeOnOneAdapter('obstacles of campaigns', (adapter) => {
  /** A campaign of 8 recipients that sends one SMS every ten seconds, and has sent the first. */
  async function startSlow() {
    const clock = new FakeClock();
    const pace = { clock, stepMs: 1000 };
    const transport = new ScriptedTransport();
    const sms = { ...OPTIONS.sms, transport: { useValue: transport } };
    const world = await startManage(adapter, { campaigns: {}, sms }, { clock });
    const client = await clientOf(world, { units: 100 });
    const campaigns = new CampaignCalls(client);
    const { id } = await campaigns.create({ per_minute: 6 });
    await campaigns.list(id, homeNumbers(8));
    await campaigns.act(id, 'start');
    await campaigns.until(id, ({ counts }) => counts.sent === 1, pace);
    return { ...world, client, campaigns, id, clock, pace, transport };
  }

  type World = Awaited<ReturnType<typeof startSlow>>;

  test.each<[string, string, (world: World) => Promise<unknown>, (world: World) => Promise<unknown>]>([
    [
      'a suspended account',
      'account_suspended',
      ({ operator, client }) => operator.done(`manage/accounts/${client.accountId}/suspend`, {}),
      ({ operator, client }) => operator.done(`manage/accounts/${client.accountId}/resume`, {}),
    ],
    [
      'a paused channel',
      'channel_paused',
      ({ operator }) => operator.done('manage/queue/pause', { channel: 'sms' }),
      ({ operator }) => operator.done('manage/queue/resume', { channel: 'sms' }),
    ],
    [
      'the paused SMS of its account',
      'channel_paused',
      ({ operator, client }) => operator.done('manage/queue/pause', { channel: 'sms', account: client.accountId }),
      ({ operator, client }) => operator.done('manage/queue/resume', { channel: 'sms', account: client.accountId }),
    ],
  ])('%s pauses the campaign with the reason %s, and it goes on after a resume', async (_, reason, block, clear) => {
    const world = await startSlow();
    const { campaigns, client, id, clock, pace, transport } = world;
    await block(world);
    const paused = await campaigns.until(id, ({ status }) => status === 'paused', pace);
    expect(paused.pause_reason).toBe(reason);
    const { pending, queued, sent } = paused.counts;
    expect([pending + queued + sent, paused.units]).toEqual([8, queued + sent]);
    expect(await client.balance()).toBe(100 - paused.units);
    // Nothing becomes an SMS while it is paused, however long that is.
    clock.advance(3_600_000);
    await clear(world);
    expect(await campaigns.get(id)).toMatchObject({ status: 'paused', units: paused.units });
    await campaigns.act(id, 'resume');
    const done = await campaigns.until(id, ({ counts }) => counts.sent === 8, pace);
    expect(done).toMatchObject({ pause_reason: null, units: 8, refunded_units: 0 });
    expect(new Set(transport.taken.map(({ number }) => number)).size).toBe(8);
    expect([transport.taken.length, await client.balance()]).toEqual([8, 92]);
  });

  test('another account’s pause does not pause it', async () => {
    const world = await startSlow();
    const other = await clientOf(world);
    await world.operator.done('manage/queue/pause', { channel: 'sms', account: other.accountId });
    const isDone = ({ status, counts }: CampaignView) => status === 'completed' && counts.sent === 8;
    expect(await world.campaigns.until(world.id, isDone, world.pace)).toMatchObject({ units: 8 });
  });
});
