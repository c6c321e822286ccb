import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { ReceivedMessage } from '../../../src/events/events.api.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { ReceivedMessageStore } from '../../../src/msgapp/received/received-message-store.js';
import { ErasureService } from '../../../src/outbox/retention/erasure-service.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import { call, type Reply } from '../../support/http/http-client.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const OWN = '22675000001';
const OTHER = '22675000002';
const FAR_AHEAD = { send_at: new Date(Date.now() + 86_400_000).toISOString() };

let phones = 22_670_000_100;

describeService('people without a number', (start) => {
  let service: Service;
  let client: MsgappClient;
  let stop: () => void;
  const received: ReceivedMessage[] = [];

  beforeAll(async () => {
    service = await startMsgapp(start);
    client = await msgappClient(service);
    await client.link(OWN);
    await logOf().switchOn(client.api.accountId, Number.MAX_SAFE_INTEGER);
    const events = service.app.get(MessagingEvents, { strict: false });
    stop = events.on('msgapp.received', ({ data }) => void received.push(data));
  });
  afterAll(() => stop());

  const logOf = () => service.app.get(StartedStorage, { strict: false }).store(EventLog);
  const erase = (number: string) => service.app.get(ErasureService, { strict: false }).erase(number);

  /** A phone writes, and its message is returned. */
  async function writes(phone: string, over: object = {}): Promise<ReceivedMessage> {
    const body = { channel: 'msgapp', to: OWN, text: 'Bonjour', hidden: true, ...over };
    const { status } = await call(`${service.url}/sandbox/phones/${phone}/messages`, { method: 'POST', body });
    expect(status).toBe(204);
    const [message] = received.splice(0);
    if (!message) throw new Error('Nothing was received.');
    return message;
  }

  /** Lets a new person write a text. The app hides the person's number, unless `over` has `hidden: false`. */
  async function somebody(over: object = {}): Promise<{ phone: string; contact: string; message: ReceivedMessage }> {
    const phone = String(++phones);
    const message = await writes(phone, over);
    return { phone, contact: message.contact ?? '', message };
  }

  const refusal = ({ status, headers }: Reply) => [status, headers.get('x-error-code')];

  test('a text and a file reach the person, and everything shows the contact', async () => {
    const { phone, contact } = await somebody();
    const before = await client.api.balance();
    const text = MsgappClient.idOf(await client.text({ to: contact, body: 'Bonjour à vous' }));
    const photo = `${service.url}/sandbox/media/photo.jpg`;
    const file = MsgappClient.idOf(await client.media({ to: contact, mediaUrl: photo, caption: 'Voici' }));
    expect(await client.settled(text, 'delivered')).toMatchObject({ to: contact, from: OWN, units: 1 });
    expect(await client.settled(file, 'delivered')).toMatchObject({ to: contact, units: 2 });
    expect(await client.phone(phone)).toMatchObject([
      { text: 'Bonjour à vous', from: OWN },
      { media: { type: 'image', caption: 'Voici' } },
    ]);
    expect(before - (await client.api.balance())).toBe(3);
    const { body } = await client.api.call(`msgapp/messages?to=${contact}`);
    expect((body as { items: { messageID: string }[] }).items.map(({ messageID }) => messageID)).toEqual([file, text]);
    const { events } = await logOf().read({ accountId: client.api.accountId, after: 0, limit: 500 });
    const delivered = events.flatMap(({ type, data }) =>
      type === 'message.delivered' && 'number' in data ? [data.number] : [],
    );
    expect(delivered).toEqual([contact, contact]);
  });

  test('once the number is known, a message to the contact is one to the number', async () => {
    const { phone, contact } = await somebody();
    await writes(phone, { hidden: false });
    const id = MsgappClient.idOf(await client.text({ to: contact, body: 'Bonjour' }));
    expect(await client.settled(id, 'delivered')).toMatchObject({ to: phone });
  });

  test('the number becomes known before a message that waits is sent', async () => {
    const { phone, contact } = await somebody();
    const sends = { to: contact, body: 'Plus tard', send_at: new Date(Date.now() + 400).toISOString() };
    const id = MsgappClient.idOf(await client.text(sends));
    await writes(phone, { hidden: false });
    expect(await client.settled(id, 'delivered')).toMatchObject({ to: contact });
    expect(await client.arrived(phone, 1)).toMatchObject({ text: 'Plus tard' });
  });

  test('an answer quotes the message, and needs no recipient', async () => {
    const { phone, contact, message } = await somebody({ text: 'Où est mon colis ?' });
    const id = MsgappClient.idOf(await client.text({ reply_to: message.id, body: 'En route' }));
    expect(await client.settled(id, 'delivered')).toMatchObject({ to: contact, from: OWN, reply_to: message.id });
    const photo = `${service.url}/sandbox/media/photo.jpg`;
    await client.media({ reply_to: message.id, to: contact, mediaUrl: photo });
    expect(await client.arrived(phone, 2)).toMatchObject({ quote: 'Où est mon colis ?' });
    expect(await client.phone(phone)).toMatchObject([{ text: 'En route', quote: 'Où est mon colis ?' }, {}]);
    // A person whose number is known is answered at the number.
    const known = await writes(phone, { hidden: false, text: '', media: 'photo.jpg' });
    const again = MsgappClient.idOf(await client.text({ reply_to: known.id, to: phone, body: 'Merci' }));
    expect(await client.settled(again, 'delivered')).toMatchObject({ to: phone, reply_to: known.id });
    const plain = MsgappClient.idOf(await client.text({ to: phone, body: 'Au revoir' }));
    expect(await client.settled(plain, 'delivered')).toMatchObject({ reply_to: null });
    expect(await client.arrived(phone, 4)).not.toHaveProperty('quote');
  });

  test('an answer to a message that is gone, foreign, a reaction or from somebody else is refused', async () => {
    const { phone, message } = await somebody();
    const other = await somebody();
    const reaction = await writes(phone, { replyTo: message.id, reaction: '👍' });
    const stranger = await msgappClient(service);
    await stranger.link('22675000005');
    const before = await client.api.balance();
    for (const [sender, over, expected] of [
      [stranger, {}, [404, 'message_not_found']],
      [client, { reply_to: 'unknown' }, [404, 'message_not_found']],
      [client, { reply_to: reaction.id }, [404, 'message_not_found']],
      [client, { reply_to: 1 }, [400, 'field_not_string']],
      [client, { reply_to: null }, [400, 'field_missing']],
      [client, { to: other.contact }, [400, 'field_invalid']],
      [client, { to: phone }, [400, 'field_invalid']],
      [client, { from: '22675000009' }, [409, 'contact_other_session']],
    ] as const) {
      expect(refusal(await sender.text({ reply_to: message.id, body: 'x', ...over }))).toEqual(expected);
    }
    await writes(phone, { hidden: false });
    await erase(phone);
    expect(refusal(await client.text({ reply_to: message.id, body: 'x' }))).toEqual([404, 'message_not_found']);
    expect(await client.api.balance()).toBe(before);
  });

  test('a message is shown as read, and gets a reaction, which costs nothing', async () => {
    const { phone, message } = await somebody({ text: 'Merci beaucoup' });
    const before = await client.api.balance();
    const act = (id: string, what: string, body?: object) =>
      client.api.call(`msgapp/received/${id}/${what}`, { method: 'POST', body });
    const seen = await act(message.id, 'seen');
    expect([seen.status, seen.body]).toEqual([200, { success: true }]);
    for (const emoji of ['👍🏽', '👍🏽', '']) {
      const { status, body } = await act(message.id, 'react', { emoji });
      expect([status, body]).toEqual([200, { success: true }]);
    }
    expect(await client.phone(phone)).toMatchObject([{ text: '👍🏽', quote: 'Merci beaucoup', from: OWN }]);
    for (const emoji of ['ok', '👍👍', '1', ' ']) {
      expect(refusal(await act(message.id, 'react', { emoji }))).toEqual([400, 'field_invalid']);
    }
    expect(refusal(await act(message.id, 'react', { emoji: 1 }))).toEqual([400, 'field_not_string']);
    expect(refusal(await act(message.id, 'react', {}))).toEqual([400, 'field_missing']);
    const reaction = await writes(phone, { replyTo: message.id, reaction: '👍' });
    const stranger = (await msgappClient(service)).api;
    for (const reply of [
      await act(reaction.id, 'seen'),
      await act('unknown', 'seen'),
      await act('unknown', 'react', { emoji: '👍' }),
      await stranger.call(`msgapp/received/${message.id}/seen`, { method: 'POST' }),
    ]) {
      expect(refusal(reply)).toEqual([404, 'message_not_found']);
    }
    expect(await client.api.balance()).toBe(before);
  });

  test('a number that is not linked any more does not react', async () => {
    const gone = '22675000006';
    const session = await client.link(gone);
    const { message } = await somebody({ to: gone });
    await client.logout(session);
    const reply = await client.api.call(`msgapp/received/${message.id}/seen`, { method: 'POST' });
    expect(refusal(reply)).toEqual([409, 'not_connected']);
  });

  test('an answer whose message is erased while it waits goes without a quote', async () => {
    const { phone, contact, message } = await somebody();
    const soon = new Date(Date.now() + 400).toISOString();
    const id = MsgappClient.idOf(await client.text({ reply_to: message.id, body: 'Plus tard', send_at: soon }));
    const store = service.app.get(StartedStorage, { strict: false }).store(ReceivedMessageStore);
    expect(await store.eraseContact(contact)).toBe(1);
    await client.settled(id, 'delivered');
    expect(await client.arrived(phone, 1)).not.toHaveProperty('quote');
  });

  test('the window of a contact is in the zones of the linked number’s country, and a message can be canceled', async () => {
    const { contact } = await somebody();
    const window = { from: '08:00', to: '20:00', zone: 'recipient' };
    const id = MsgappClient.idOf(await client.text({ to: contact, body: 'x', window, ...FAR_AHEAD }));
    expect(await client.message(id)).toMatchObject({ status: 'queued', window });
    const canceled = await client.api.call(`msgapp/messages/${id}?number=${contact}`, { method: 'DELETE' });
    expect(canceled.body).toEqual({ canceled: 1, too_late: 0, refunded_units: 1 });
  });

  test('if the contact is removed before its message is sent, the message fails and is refunded', async () => {
    const { phone, contact } = await somebody();
    const sends = { to: contact, body: 'Trop tard', send_at: new Date(Date.now() + 400).toISOString() };
    const id = MsgappClient.idOf(await client.text(sends));
    await writes(phone, { hidden: false });
    await erase(phone);
    expect(await client.settled(id, 'failed')).toMatchObject({ error: 'contact_removed', refunded_units: 1 });
    expect(refusal(await client.text({ to: contact, body: 'x' }))).toEqual([404, 'contact_not_found']);
  });

  test.each<[string, boolean]>([
    ['a contact is erased by its id', false],
    ['a number is erased with its contacts, and with what was sent while it was not known', true],
  ])('%s', async (_, isKnown) => {
    const { phone, contact, message } = await somebody({ text: 'Un secret' });
    const id = MsgappClient.idOf(await client.text({ reply_to: message.id, body: 'Un autre secret' }));
    await client.settled(id, 'delivered');
    if (isKnown) await writes(phone, { hidden: false, text: 'Mon secret' });
    const counts = await erase(isKnown ? phone : contact);
    const received = isKnown ? 2 : 1;
    expect(counts).toMatchObject({ deliveries: 1, messages: 1, contacts: 1, received, open: 0 });
    expect(await client.message(id)).toMatchObject({ to: '*'.repeat(contact.length), body: null });
    const { events } = await logOf().read({ accountId: client.api.accountId, after: 0, limit: 500 });
    const theirs = JSON.stringify(events.filter(({ data }) => JSON.stringify(data).includes(contact)));
    expect(theirs).toContain(message.id);
    expect(theirs).not.toContain('secret');
    expect(theirs).not.toContain(phone);
    expect(refusal(await client.text({ to: contact, body: 'x' }))).toEqual([404, 'contact_not_found']);
    expect(await erase(isKnown ? phone : contact)).toMatchObject({
      deliveries: 0,
      messages: 0,
      contacts: 0,
      received: 0,
    });
  });

  test('contacts of other accounts and numbers are refused, and cost nothing', async () => {
    const { contact } = await somebody();
    await client.link(OTHER);
    const stranger = await msgappClient(service);
    await stranger.link('22675000003');
    const before = await client.api.balance();
    const photo = `${service.url}/sandbox/media/photo.jpg`;
    for (const [sender, over, expected] of [
      [stranger, {}, [404, 'contact_not_found']],
      [client, { to: 'ct_unknown' }, [404, 'contact_not_found']],
      [client, { from: OTHER }, [409, 'contact_other_session']],
      [client, { to: 'ct_' }, [400, 'invalid_number']],
      [client, { to: `ct_${'x'.repeat(62)}` }, [400, 'invalid_number']],
      [client, { to: `${contact}/` }, [400, 'invalid_number']],
    ] as const) {
      expect(refusal(await sender.text({ to: contact, body: 'x', ...over }))).toEqual(expected);
      expect(refusal(await sender.media({ to: contact, mediaUrl: photo, ...over }))).toEqual(expected);
    }
    expect(refusal(await client.api.post('send/otp', { service: 'B', number: contact, channel: 'msgapp' }))).toEqual([
      400,
      'invalid_number',
    ]);
    expect(await client.api.balance()).toBe(before);
    // The contact belongs to the first number, which sends although the other one could.
    const id = MsgappClient.idOf(await client.text({ to: contact, body: 'x' }));
    expect(await client.settled(id, 'delivered')).toMatchObject({ from: OWN });
  });

  test('if the linked number of the contact is not linked any more, another one cannot answer', async () => {
    const gone = '22675000004';
    const session = await client.link(gone);
    const { contact } = await somebody({ to: gone });
    await client.logout(session);
    expect(refusal(await client.text({ to: contact, body: 'x' }))).toEqual([409, 'not_connected']);
    // The person is the same contact when the number is linked again.
    await client.link(gone);
    const id = MsgappClient.idOf(await client.text({ to: contact, body: 'x' }));
    expect(await client.settled(id, 'delivered')).toMatchObject({ from: gone, to: contact });
  });

  test('a key that may write to some numbers may not write to a contact whose number is not known', async () => {
    const { phone, contact } = await somebody();
    const accounts = service.app.get(AccountService, { strict: false });
    const { key } = await accounts.issueKey(client.api.accountId, { scopes: ['msgapp:send'], recipients: [phone] });
    const send = () => client.text({ to: contact, body: 'x' }, { 'x-api-key': key });
    expect(refusal(await send())).toEqual([403, 'key_recipient']);
    await writes(phone, { hidden: false });
    expect((await send()).status).toBe(200);
  });
});
