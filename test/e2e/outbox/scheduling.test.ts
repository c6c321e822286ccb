import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/common/eventually.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { type MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const TO = '22670000001';
const SMS = { signature: 'INFOS', content: 'Bonjour', number: [TO] };
const HOUR_MS = 3_600_000;

describeService('a scheduled send', (start) => {
  let service: Service;
  let files: FileServer;
  let client: MsgappClient;

  beforeAll(async () => {
    files = await FileServer.open();
    service = await startMsgapp(start);
    client = await msgappClient(service, 10_000);
    await client.link('22670000100');
  });
  afterAll(() => files.close());

  const inOneHour = () => new Date(Date.now() + HOUR_MS).toISOString();
  const later = (moment: string, seconds: number) => new Date(Date.parse(moment) + seconds * 1000).toISOString();

  test('is charged at once and waits; look-ups and listings show its times', async () => {
    const send_at = inOneHour();
    const { smsID } = await client.api.sent({ ...SMS, send_at, valid_for: 60 });
    const times = { send_at, valid_until: later(send_at, 60), window: null };
    const found = await client.api.call(`sms/${smsID}`);
    expect(found.body).toMatchObject({ ...times, recipients: [{ status: 'queued', due_at: send_at }] });
    expect((await client.api.call('sms')).body).toMatchObject({ items: [{ smsID, ...times }] });
  });

  test('is listed with what waits, the next one first, and not after its cancellation', async () => {
    const [late, soon] = [later(inOneHour(), 7200), later(inOneHour(), 3600)];
    const ids: unknown[] = [];
    for (const send_at of [late, soon]) ids.push((await client.api.sent({ ...SMS, send_at })).smsID);
    await client.api.sent(SMS);
    // Other tests have scheduled SMS, too.
    const listed = async () => {
      const { items } = (await client.api.call('sms?scheduled=true')).body as { items: { smsID: string }[] };
      return items.map(({ smsID }) => smsID).filter((id) => ids.includes(id));
    };
    expect(await listed()).toEqual([ids[1], ids[0]]);
    await client.api.call(`sms/${ids[1]}`, { method: 'DELETE' });
    expect(await listed()).toEqual([ids[0]]);
  });

  test.each(['scheduled=yes', 'scheduled=true&status=queued', 'scheduled=true&number=22670000001'])(
    'sms?%s is refused',
    async (query) => {
      expect(await client.api.call(`sms?${query}`)).toMatchObject({ status: 400, body: { error: 'Bad Request' } });
    },
  );

  test('a plain send shows no times', async () => {
    const { smsID } = await client.api.sent(SMS);
    expect((await client.api.call(`sms/${smsID}`)).body).toMatchObject({ send_at: null, valid_until: null });
  });

  test.each(['text', 'media'] as const)('of a linked number: %s', async (kind) => {
    const send_at = inOneHour();
    const order = { to: TO, send_at, valid_for: 60 };
    const sent =
      kind === 'text'
        ? await client.text({ ...order, body: 'x' })
        : await client.media({ ...order, mediaUrl: files.url('/photo.png') });
    expect(sent.status).toBe(200);
    const { messageID } = sent.body as { messageID: string };
    const times = { send_at, valid_until: later(send_at, 60), window: null, due_at: send_at, status: 'queued' };
    expect((await client.api.call(`msgapp/messages/${messageID}`)).body).toMatchObject(times);
    const listed = (await client.api.call('msgapp/messages?scheduled=true')).body as { items: { messageID: string }[] };
    expect(listed.items.at(-1)).toMatchObject({ messageID, send_at });
  });

  test.each([
    ['send_at', '2026-11-28T08:00:00', 'send_at_invalid'],
    ['send_at', '2026-02-30T08:00:00Z', 'send_at_invalid'],
    ['send_at', 1_764_316_800, 'send_at_invalid'],
    ['valid_for', 4, 'valid_for_invalid'],
    ['valid_for', '60', 'valid_for_invalid'],
    ['valid_for', 1.5, 'valid_for_invalid'],
  ])('%s %j is refused', async (field, value, code) => {
    const wrong = { [field]: value };
    const replies = [
      await client.api.send({ ...SMS, ...wrong }),
      await client.text({ to: TO, body: 'x', ...wrong }),
      await client.media({ to: TO, mediaUrl: files.url('/photo.png'), ...wrong }),
    ];
    for (const reply of replies) {
      expect(reply.status).toBe(400);
      expect(reply.headers.get('x-error-code')).toBe(code);
    }
  });

  const reschedule = (path: string, body: object) => client.api.call(path, { method: 'PATCH', body });

  test('gets another time, validity and window while it waits', async () => {
    const before = await client.api.balance();
    const { smsID } = await client.api.sent({ ...SMS, send_at: inOneHour(), valid_for: 60 });
    const send_at = later(inOneHour(), 3600);
    const moved = await reschedule(`sms/${smsID}`, { send_at });
    const times = { send_at, valid_until: later(send_at, 60), window: null };
    expect(moved.status).toBe(200);
    expect(moved.body).toMatchObject({ smsID, ...times, recipients: [{ status: 'queued', due_at: send_at }] });
    expect((await client.api.call(`sms/${smsID}`)).body).toEqual(moved.body);
    const window = { from: '08:00', to: '20:00' };
    expect((await reschedule(`sms/${smsID}`, { valid_for: 600, window })).body).toMatchObject({
      send_at,
      valid_until: later(send_at, 600),
      window: { ...window, zone: 'recipient' },
    });
    const released = await reschedule(`sms/${smsID}`, { send_at: new Date().toISOString(), window: null });
    expect([released.status, Object(released.body).window]).toEqual([200, null]);
    await eventually(
      () => client.api.details(smsID),
      ({ recipients }) => recipients[0]?.status !== 'queued',
    );
    const late = await reschedule(`sms/${smsID}`, { send_at });
    expect([late.status, late.headers.get('x-error-code')]).toEqual([409, 'already_sending']);
    expect(await client.api.balance()).toBe(Number(before) - 1);
  });

  test.each([
    [{ send_at: '2026-02-30T08:00:00Z' }, 'send_at_invalid'],
    [{ valid_for: 4 }, 'valid_for_invalid'],
    [{ window: { from: '08:00' } }, 'window_invalid'],
  ])('is not rescheduled to %j', async (body, code) => {
    const { smsID } = await client.api.sent({ ...SMS, send_at: inOneHour() });
    const reply = await reschedule(`sms/${smsID}`, body);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, code]);
    expect((await reschedule('sms/unknown', {})).status).toBe(404);
  });

  const cancel = (path: string) => client.api.call(path, { method: 'DELETE' });
  const NOTHING = { canceled: 0, too_late: 0, refunded_units: 0 };

  test('is canceled once, and its units come back', async () => {
    const before = await client.api.balance();
    const { smsID } = await client.api.sent({ ...SMS, number: [TO, '22670000002'], send_at: inOneHour() });
    const one = await cancel(`sms/${smsID}?number=22670000002`);
    expect([one.status, one.body]).toEqual([200, { canceled: 1, too_late: 0, refunded_units: 1 }]);
    expect((await cancel(`sms/${smsID}`)).body).toEqual({ canceled: 1, too_late: 0, refunded_units: 1 });
    expect((await cancel(`sms/${smsID}`)).body).toEqual(NOTHING);
    expect(await client.api.balance()).toBe(before);
    const { recipients } = await client.api.details(smsID);
    expect(recipients).toMatchObject(Array(2).fill({ status: 'canceled', refunded_units: 1, due_at: null }));
    expect((await client.api.list('?status=canceled')).items.map((sms) => sms.smsID)).toContain(smsID);
  });

  test('of a linked number is canceled once', async () => {
    const { body } = await client.text({ to: TO, body: 'x', send_at: inOneHour() });
    const path = `msgapp/messages/${(body as { messageID: string }).messageID}`;
    expect((await cancel(`${path}?number=${TO}`)).body).toMatchObject({ canceled: 1, too_late: 0 });
    expect((await cancel(path)).body).toEqual(NOTHING);
    expect((await client.api.call(path)).body).toMatchObject({ status: 'canceled', due_at: null });
  });

  test('a cancellation of what the account does not have is refused', async () => {
    const { smsID } = await client.api.sent({ ...SMS, send_at: inOneHour() });
    const paths = ['sms/nothing', `sms/${smsID}?number=22670000009`, `msgapp/messages/${smsID}`, 'msgapp/messages/x'];
    for (const path of paths) {
      const reply = await cancel(path);
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([404, 'message_not_found']);
    }
    expect((await cancel(`sms/${smsID}?number=00`)).status).toBe(400);
  });
});
