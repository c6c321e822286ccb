import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { OtpService } from '../../../src/otp/otp-service.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { SmsOptions } from '../../../src/sms/sms-options.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

const BF = '22670000001';
const FR = '33612345678';
const US = '12125550123';

beforeAll(() => Logger.overrideLogger(false));

// The clock begins at 10:00 UTC on Saturday, 21 November 2026.
const CLOSED = { from: '08:00', to: '10:00' };
const CLOSED_BOTH = { from: '20:00', to: '08:00' };
const SEND = { signature: 'INFOS', content: 'Bonjour', number: [BF] };

describeService('windows of sends', (start) => {
  let transport: ScriptedTransport;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;

  async function serve(sms: Partial<SmsOptions> = {}): Promise<void> {
    const transported = { ...OPTIONS.sms, ...sms, transport: { useValue: transport } };
    const otp = { pepper: '0123456789abcdefghijklmnopqrstuvwxyz' };
    service = await start({ sms: transported, otp, clock: { useValue: clock } });
    client = await service.client(100);
  }

  beforeEach(() => {
    transport = new ScriptedTransport();
    clock = new FakeClock();
  });

  /** Lets time pass until the carrier has got SMS to these numbers. */
  async function taken(...numbers: readonly string[]): Promise<void> {
    const got = () => transport.taken.map(({ number }) => number);
    await eventually(got, (answer) => answer.length >= numbers.length, { clock, stepMs: 100 });
    expect(got()).toEqual(numbers);
  }

  /** When the next delivery of the channel is due. */
  async function nextDue(): Promise<string | undefined> {
    const due = await service.app.get(OutboxStore, { strict: false }).nextDue('sms');
    return due === undefined ? undefined : new Date(due).toISOString();
  }

  test('a send is charged at once, shown with its window, and handed over at the next opening', async () => {
    await serve();
    const { smsID } = await client.sent({ ...SEND, window: { from: '10:01', to: '10:30', days: [6, 7] } });
    expect([await client.balance(), await nextDue()]).toEqual([99, '2026-11-21T10:01:00.000Z']);
    expect(await client.details(smsID)).toMatchObject({
      window: { from: '10:01', to: '10:30', days: [6, 7], zone: 'recipient' },
      recipients: [{ status: 'queued', due_at: '2026-11-21T10:01:00.000Z' }],
    });
    await taken(BF);
    expect(clock.now()).toBeGreaterThanOrEqual(Date.parse('2026-11-21T10:01:00Z'));
  });

  test('each recipient is due in the zones of its country', async () => {
    await serve();
    // It is 10:00 in Burkina Faso and 11:00 in France.
    const { smsID } = await client.sent({ ...SEND, number: [BF, FR, US], window: CLOSED_BOTH });
    const { recipients } = await client.details(smsID);
    expect(recipients).toMatchObject([
      { number: BF, due_at: '2026-11-21T20:00:00.000Z' },
      { number: FR, due_at: '2026-11-21T19:00:00.000Z' },
      // It is midnight in Hawaii and 5:00 in New York, so the window is open in all zones between.
      { number: US, due_at: '2026-11-21T10:00:00.000Z' },
    ]);
  });

  test('the time of a send and its validity count before the window', async () => {
    await serve();
    const window = { from: '08:00', to: '20:00', zone: 'UTC' };
    const later = await client.sent({ ...SEND, window, send_at: '2026-11-25T21:00:00Z' });
    expect(await client.details(later.smsID)).toMatchObject({ recipients: [{ due_at: '2026-11-26T08:00:00.000Z' }] });
    // It expires before the window opens.
    const late = await client.sent({ ...SEND, window, send_at: '2026-11-25T21:00:00Z', valid_for: 3600 });
    expect(await client.details(late.smsID)).toMatchObject({ recipients: [{ due_at: '2026-11-25T22:00:00.000Z' }] });
  });

  test('a window that never opens in a country is refused, and nothing is charged', async () => {
    await serve();
    const window = { from: '08:00', to: '09:00' };
    const { status, headers, body } = await client.send({ ...SEND, number: [BF, US], window });
    expect([status, headers.get('x-error-code')]).toEqual([400, 'window_empty']);
    expect(Object(body).message).toContain('US');
    expect(await client.balance()).toBe(100);
  });

  test.each<[unknown]>([
    [{ from: '08:00', to: '08:00' }],
    [{ ...CLOSED, days: [] }],
    [{ ...CLOSED, days: [0] }],
    [{ ...CLOSED, days: [8] }],
    [{ ...CLOSED, zone: 'Mars' }],
    [{ ...CLOSED, timezone: 'UTC' }],
    ['08:00-20:00'],
    [[]],
    [1],
  ])('the window %j is refused', async (window) => {
    await serve();
    const { status, headers } = await client.send({ ...SEND, window });
    expect([status, headers.get('x-error-code')]).toEqual([400, 'window_invalid']);
    const sms = service.app.get(SmsService, { strict: false });
    const sent = sms.send(client.accountId, JSON.parse(JSON.stringify({ ...SEND, window })));
    await expect(sent).rejects.toMatchObject({ code: 'error.window_invalid' });
  });

  describe('by default', () => {
    const windows = { bulk: CLOSED, normal: { ...CLOSED, days: [1] } };

    test('follow the priority, and a request may switch them off or give another', async () => {
      await serve({ windows });
      await client.sent(SEND);
      expect(await nextDue()).toBe('2026-11-23T08:00:00.000Z');
      await client.sent({ ...SEND, priority: 'bulk' });
      expect(await nextDue()).toBe('2026-11-22T08:00:00.000Z');
      await client.sent({ ...SEND, window: { from: '08:00', to: '09:00', zone: 'Africa/Nairobi' } });
      expect(await nextDue()).toBe('2026-11-22T05:00:00.000Z');
      await client.sent({ ...SEND, priority: 'high' });
      await taken(BF);
      await client.sent({ ...SEND, window: null });
      await taken(BF, BF);
    });

    test('do not hold codes back', async () => {
      await serve({ windows });
      const otp = service.app.get(OtpService, { strict: false });
      await otp.send(client.accountId, { service: 'Boutique', number: BF });
      await taken(BF);
    });
  });
});
