import { beforeEach, expect, test } from '@jest/globals';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { DELIVERY_EVENTS } from '../../../src/events/event-types.js';
import type { DeliveryData } from '../../../src/events/events.api.js';
import { MessagingEvents, type SegmentDifference } from '../../../src/events/messaging-events.js';
import type { DeliveryStatus } from '../../../src/outbox/delivery-state.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

const NUMBER = '22670000000';
const OTHERS = ['22670000001', '22670000002', '22670000003'];
const SEND = { signature: 'INFOS', content: 'Bonjour', number: [NUMBER] };

describeService('carriers’ receipts', (start) => {
  let transport: ScriptedTransport;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;
  let moved: DeliveryData[];

  beforeEach(async () => {
    transport = new ScriptedTransport();
    clock = new FakeClock();
    service = await start({
      sms: { ...OPTIONS.sms, transport: { useValue: transport } },
      clock: { useValue: clock },
    });
    client = await service.client(1000);
    moved = [];
    service.app.get(MessagingEvents, { strict: false }).on(DELIVERY_EVENTS, ({ data }) => void moved.push(data));
  });

  const statesOf = async (smsId: string) => (await client.recipients(smsId)).map(({ status }) => status);
  const becomes = (smsId: string, ...wanted: DeliveryStatus[]) =>
    eventually(
      () => statesOf(smsId),
      (states) => states.join() === wanted.join(),
      { clock, stepMs: 50 },
    );
  const trailOf = async (smsId: string) =>
    (await service.app.get(OutboxStore, { strict: false }).trail(smsId)).map(({ entry }) => entry);
  const receipt = (id: string, status: 'delivered' | 'undelivered' | 'failed' = 'delivered') => ({
    route: 'scripted',
    ids: [id],
    status,
  });
  const books = () => service.app.get(LedgerStore, { strict: false }).check();

  test('update the SMS that they are for, once', async () => {
    const { smsID } = await client.sent({ ...SEND, number: [NUMBER, ...OTHERS] });
    await becomes(smsID, 'sent', 'sent', 'sent', 'sent');
    const said = [
      receipt(`${OTHERS[0]}-1`),
      receipt(`${OTHERS[1]}-1`, 'undelivered'),
      { ...receipt(`${OTHERS[2]}-1`, 'failed'), error: '34' },
      receipt('nobody'),
    ];
    for (let time = 0; time < 3; time++) await Promise.all(said.map((each) => transport.sink.receipts([each])));
    expect(await statesOf(smsID)).toEqual(['sent', 'delivered', 'undelivered', 'failed']);
    expect(moved.filter(({ status }) => status !== 'sent')).toHaveLength(3);
    expect(await client.balance()).toBe(1000 - 3);
    expect((await client.details(smsID)).recipients[3]).toMatchObject({ error: '34', refunded_units: 1 });
    expect(await books()).toEqual([]);
  });

  test('may overtake the answer to the submit', async () => {
    transport.before = ([sms]) => transport.sink.receipts([receipt(`${sms?.number}-1`)]);
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'delivered');
    expect(await trailOf(smsID)).toMatchObject([{ outcome: 'sent' }, { receipt: 'delivered' }]);
    expect(await books()).toEqual([]);
  });

  test('may overtake it under the id of an older SMS too, but a repeat of an older receipt is not mistaken for one', async () => {
    transport.answer = () => ({ kind: 'sent', carrierIds: ['same'] });
    const before = clock.now();
    const said = (ms: number) => transport.sink.receipts([{ ...receipt('same'), number: NUMBER, at: before + ms }]);
    const first = await client.sent(SEND);
    await becomes(first.smsID, 'sent');
    await said(1);
    transport.before = () => said(1);
    const second = await client.sent(SEND);
    await becomes(second.smsID, 'sent');
    await said(2);
    expect(await statesOf(second.smsID)).toEqual(['delivered']);
    transport.before = () => said(3);
    const third = await client.sent(SEND);
    await becomes(third.smsID, 'delivered');
    expect(await books()).toEqual([]);
  });

  test('arrive one by one around the answers of many submits, and none is lost', async () => {
    const number = Array.from({ length: 600 }, (_, index) => `22671${String(index).padStart(6, '0')}`);
    const heard: Promise<void>[] = [];
    const report = (to: string) => void heard.push(transport.sink.receipts([receipt(`${to}-1`)]));
    transport.before = async (batch) => {
      // A third each: before the answer, while it is being stored, and after it.
      for (const [index, { number: to }] of batch.entries()) {
        if (index % 3 === 0) report(to);
        else if (index % 3 === 1) setImmediate(report, to);
        else setTimeout(report, index % 50, to);
      }
    };
    const { smsID } = await client.sent({ ...SEND, number });
    await becomes(smsID, ...number.map((): DeliveryStatus => 'delivered'));
    await Promise.all(heard);
    expect(heard).toHaveLength(600);
    expect(moved.filter(({ status }) => status === 'delivered')).toHaveLength(600);
    expect(await books()).toEqual([]);
  });

  test('are awaited for each part', async () => {
    transport.answer = () => ({ kind: 'sent', carrierIds: ['a', 'b', 'c'] });
    const { smsID } = await client.sent({ ...SEND, content: 'ê'.repeat(150) });
    await becomes(smsID, 'sent');
    await transport.sink.receipts([receipt('c'), receipt('a')]);
    expect(await statesOf(smsID)).toEqual(['sent']);
    await transport.sink.receipts([receipt('b')]);
    expect(await statesOf(smsID)).toEqual(['delivered']);
    expect(await client.balance()).toBe(1000 - 3);
  });

  test('may come after the deadline, and settle an SMS in doubt', async () => {
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'sent');
    clock.advance(73 * 3_600_000);
    await becomes(smsID, 'unknown');
    await transport.sink.receipts([receipt(`${NUMBER}-1`)]);
    expect(await statesOf(smsID)).toEqual(['delivered']);
  });

  test('settle an SMS whose link was lost', async () => {
    transport.answer = () => ({ kind: 'unknown', error: 'link lost', carrierIds: ['a'] });
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'unknown');
    await transport.sink.receipts([receipt('a')]);
    expect(await statesOf(smsID)).toEqual(['delivered']);
  });

  test('of a carrier with one id for everything are distinguished by their numbers', async () => {
    transport.answer = () => ({ kind: 'sent', carrierIds: ['msg_id_not_implemented'] });
    const { smsID } = await client.sent({ ...SEND, number: [NUMBER, ...OTHERS] });
    await becomes(smsID, 'sent', 'sent', 'sent', 'sent');
    await transport.sink.receipts([{ ...receipt('msg_id_not_implemented'), number: OTHERS[1] ?? '' }]);
    expect(await statesOf(smsID)).toEqual(['sent', 'sent', 'delivered', 'sent']);
  });

  test('under our own ids are accepted too, with the carrier’s words made fit to be stored', async () => {
    transport.answer = () => ({ kind: 'sent' });
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'sent');
    await transport.sink.report([{ smsId: smsID, position: 0, status: 'undelivered', error: 'a\u0000b' }]);
    expect((await client.details(smsID)).recipients).toMatchObject([{ status: 'undelivered', error: 'a\ufffdb' }]);
  });

  test('leave the attempts and the segment counts on record', async () => {
    const differences: SegmentDifference[] = [];
    service.app
      .get(MessagingEvents, { strict: false })
      .on('sms.segments_differ', (each) => void differences.push(each));
    transport.answer = () => ({
      kind: 'sent',
      route: 'two',
      carrierIds: ['a'],
      segments: 2,
      attempts: [
        { route: 'one', outcome: 'retry', code: '88', at: clock.now() },
        { route: 'two', outcome: 'sent', at: clock.now() },
      ],
    });
    const { smsID } = await client.sent(SEND);
    await becomes(smsID, 'sent');
    expect(await trailOf(smsID)).toMatchObject([
      { route: 'one', outcome: 'retry', code: '88' },
      { route: 'two', outcome: 'sent', segments: 2, our_segments: 1 },
    ]);
    expect(differences).toEqual([{ messageId: smsID, position: 0, route: 'two', ours: 1, carriers: 2 }]);
    expect(await client.balance()).toBe(999);
  });

  test('may come together with texts from phones', async () => {
    const texts: string[] = [];
    service.app.get(MessagingEvents, { strict: false }).on('sms.received', ({ data }) => void texts.push(data.text));
    const text = { route: 'scripted', from: NUMBER, to: '36200', text: 'STOP', id: '7' };
    await client.sent(SEND);
    await eventually(() => transport.taken.length > 0, Boolean, { clock });
    await transport.sink.inbound([text, { ...text, id: '8', text: 'START' }]);
    expect(texts).toEqual(['STOP', 'START']);
  });
});
