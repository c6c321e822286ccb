import { beforeEach, expect, jest, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { Cancellation } from '../../../src/outbox/schedule/cancellation.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { homeNumbers, startCampaigns } from '../../support/campaigns/campaign-app.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

unmountAfterEach();

describeOnBothAdapters('the cancellation of campaigns', (adapter) => {
  // The clock begins at 10:00 UTC on Saturday, 21 November 2026.
  let clock: FakeClock;
  beforeEach(() => {
    clock = new FakeClock();
  });

  const CLOSED = { window: { from: '12:00', to: '13:00', zone: 'UTC' } };

  /** A campaign whose recipients have all become SMS that wait for their window. */
  async function startWaiting(count: number) {
    const world = await startCampaigns(adapter, { clock: { useValue: clock } });
    const { campaigns } = world;
    const { id } = await campaigns.create(CLOSED);
    await campaigns.list(id, homeNumbers(count));
    await campaigns.act(id, 'start');
    await campaigns.until(id, ({ counts }) => counts.queued === count, { clock });
    return { ...world, id };
  }

  /** The units that the ledger has charged and not refunded, and what is wrong with the books. */
  async function booked({ app, client }: { readonly app: INestApplication; readonly client: ApiClient }) {
    const faults = await app.get(LedgerService, { strict: false }).checkLedger();
    return { net: 10_000 - (await client.balance()), faults };
  }

  test('SMS that wait for their window are canceled and refunded, also if all recipients are SMS', async () => {
    const world = await startWaiting(2500);
    const { campaigns, client, transport, id } = world;
    expect(await client.balance()).toBe(7500);
    expect(await campaigns.act(id, 'cancel')).toMatchObject({
      status: 'canceled',
      units: 2500,
      refunded_units: 2500,
      counts: { queued: 0, canceled: 2500 },
    });
    expect(await booked(world)).toEqual({ net: 0, faults: [] });
    expect(await campaigns.act(id, 'cancel')).toMatchObject({ refunded_units: 2500, counts: { canceled: 2500 } });
    clock.advance(3 * 3_600_000);
    await campaigns.until(id, ({ counts }) => counts.canceled === 2500, { clock });
    expect(transport.taken).toEqual([]);
  });

  test('a campaign of which nothing waits any more is completed, and cannot be canceled', async () => {
    const { campaigns, client, id } = await startWaiting(2);
    clock.advance(2 * 3_600_000);
    expect(await campaigns.get(id)).toMatchObject({ status: 'running' });
    await campaigns.until(id, ({ status }) => status === 'completed', { clock });
    expect((await campaigns.get(id)).counts.sent).toBe(2);
    const { status, headers } = await client.post(`campaigns/${id}/cancel`, {});
    expect([status, headers.get('x-error-code')]).toEqual([409, 'campaign_state']);
    expect(await campaigns.get(id)).toMatchObject({ status: 'completed' });
  });

  test('the process of a campaign goes on with a cancellation that a fault has cut', async () => {
    const world = await startWaiting(2500);
    const { campaigns, client, app, id } = world;
    const cancellation = app.get(Cancellation, { strict: false });
    const cancel = cancellation.cancel.bind(cancellation);
    let calls = 0;
    let isBroken = true;
    const spy = jest.spyOn(cancellation, 'cancel').mockImplementation((...message) => {
      if (isBroken && calls++ > 0) return Promise.reject(new StorageUnavailableError('A test has cut it.'));
      return cancel(...message);
    });
    expect(await client.post(`campaigns/${id}/cancel`, {})).toMatchObject({ status: 503 });
    const cut = await campaigns.get(id);
    expect(cut).toMatchObject({ status: 'canceled' });
    expect(cut.counts.queued).toBeGreaterThan(0);
    expect(cut.counts.canceled).toBeGreaterThan(0);
    expect(cut.counts.canceled).toBe(cut.refunded_units);
    isBroken = false;
    await campaigns.until(id, ({ counts }) => counts.canceled === 2500, { clock });
    spy.mockRestore();
    expect(await booked(world)).toEqual({ net: 0, faults: [] });
  });

  test('a repeat of the call goes on, too', async () => {
    const { campaigns, client, app, id } = await startWaiting(2500);
    const cancellation = app.get(Cancellation, { strict: false });
    const spy = jest.spyOn(cancellation, 'cancel').mockRejectedValue(new StorageUnavailableError('A test has cut it.'));
    expect(await client.post(`campaigns/${id}/cancel`, {})).toMatchObject({ status: 503 });
    spy.mockRestore();
    expect(await campaigns.act(id, 'cancel')).toMatchObject({ counts: { canceled: 2500 }, refunded_units: 2500 });
    expect(await client.balance()).toBe(10_000);
  });

  test('a cancellation in the middle: what a worker has goes out, the rest is refunded, and the counts are the ledger', async () => {
    const world = await startCampaigns(adapter);
    const { campaigns, transport } = world;
    const wire = new Gate();
    transport.before = () => wire.opened;
    const { id } = await campaigns.create();
    await campaigns.list(id, homeNumbers(9000));
    await campaigns.act(id, 'start');
    // More SMS have been accepted than a worker claims at a time, and the carrier does not answer yet.
    await campaigns.until(id, ({ counts }) => counts.queued >= 4000 && transport.taken.length > 0);
    const canceled = await campaigns.act(id, 'cancel');
    expect(canceled.counts.pending).toBe(0);
    wire.open();
    const done = await campaigns.until(id, ({ counts }) => counts.queued === 0);
    expect(done.counts.sent).toBe(transport.taken.length);
    expect(done.counts.sent + done.counts.canceled).toBe(9000);
    expect(done.refunded_units).toBe(done.units - done.counts.sent);
    expect(done.refunded_units).toBeGreaterThan(0);
    expect(await booked(world)).toEqual({ net: done.counts.sent, faults: [] });
  });
});
