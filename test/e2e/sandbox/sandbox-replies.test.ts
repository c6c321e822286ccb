import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EventLog } from '../../../src/events/event-log.js';
import type { ContactData, ReceivedMessage } from '../../../src/events/events.api.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { ErasureService } from '../../../src/outbox/retention/erasure-service.js';
import { sandboxMedia } from '../../../src/sandbox/sandbox-media.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import { call } from '../../support/http/http-client.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const PHONE = '22670000007';
const OWN = '22675000001';

describeService('messages from sandbox phones', (start) => {
  let service: Service;
  let client: MsgappClient;
  let stop: () => void;
  const received: ReceivedMessage[] = [];

  beforeAll(async () => {
    service = await startMsgapp(start);
    client = await msgappClient(service);
    await client.link(OWN);
    await service.app
      .get(StartedStorage, { strict: false })
      .store(EventLog)
      .switchOn(client.api.accountId, Number.MAX_SAFE_INTEGER);
    const events = service.app.get(MessagingEvents, { strict: false });
    stop = events.on('msgapp.received', ({ data }) => void received.push(data));
  });
  afterAll(() => stop());

  const write = async (body: object) =>
    (await call(`${service.url}/sandbox/phones/${PHONE}/messages`, { method: 'POST', body })).status;
  const file = (id: string) =>
    fetch(`${client.api.url}/msgapp/received/${id}/media`, { headers: { 'x-api-key': client.api.key } });

  test('STOP over SMS works as with a carrier, and START takes it back', async () => {
    const send = { signature: 'INFOS', content: 'Bonjour', number: [PHONE] };
    expect(await write({ to: 'INFOS', text: 'STOP' })).toBe(204);
    expect((await client.api.sent(send)).sms_units).toBe(0);
    expect(await write({ to: 'INFOS', text: 'START' })).toBe(204);
    expect((await client.api.sent(send)).sms_units).toBe(1);
  });

  test('a text, an answer, a reaction and a file to a linked number are events', async () => {
    const ours = MsgappClient.idOf(await client.text({ to: PHONE, body: 'Votre colis est là' }));
    await client.settled(ours, 'delivered');
    const app = { channel: 'msgapp', to: OWN };
    expect(await write({ ...app, text: 'Bonjour' })).toBe(204);
    expect(await write({ ...app, text: 'Merci', replyTo: ours })).toBe(204);
    expect(await write({ ...app, replyTo: ours, reaction: '👍' })).toBe(204);
    expect(await write({ ...app, text: 'La facture', media: 'document.pdf' })).toBe(204);
    expect(received.splice(0)).toMatchObject([
      { kind: 'text', text: 'Bonjour', from: PHONE, refers_to: null },
      { kind: 'text', text: 'Merci', refers_to: { id: ours, text: 'Votre colis est là' } },
      { kind: 'reaction', text: '👍', refers_to: { id: ours } },
      { kind: 'document', text: 'La facture', media: { mimetype: 'application/pdf', file_name: 'document.pdf' } },
    ]);
  });

  test('a person without a number is a contact, and stays it when the number becomes known', async () => {
    const identified: ContactData[] = [];
    const events = service.app.get(MessagingEvents, { strict: false });
    const stopped = events.on('contact.identified', ({ data }) => void identified.push(data));
    const as = async (hidden: boolean, text: string) => {
      const body = { channel: 'msgapp', to: OWN, text, hidden };
      const answer = await call(`${service.url}/sandbox/phones/22670000008/messages`, { method: 'POST', body });
      expect(answer.status).toBe(204);
      return received.splice(0);
    };
    const [first] = await as(true, 'Qui suis-je ?');
    expect(first).toMatchObject({ from: null, contact: expect.stringMatching(/^ct_/) });
    const contact = first?.contact;
    expect(await as(true, 'Devine')).toMatchObject([{ from: null, contact }]);
    expect(identified).toEqual([]);
    expect(await as(false, 'Me voici')).toMatchObject([{ from: '22670000008', contact }]);
    expect(identified).toEqual([{ contact, channel: 'msgapp', to: OWN, number: '22670000008', merged: null }]);
    // The app hides the number again, but it has shown it.
    expect(await as(true, 'Encore')).toMatchObject([{ from: '22670000008', contact }]);
    const erased = await service.app.get(ErasureService, { strict: false }).erase('22670000008');
    expect(erased).toMatchObject({ received: 4, contacts: 1 });
    const [anew] = await as(true, 'Et maintenant ?');
    expect(anew?.from).toBeNull();
    expect(anew?.contact).not.toBe(contact);
    stopped();
  });

  test('a file can be fetched until its sender is erased', async () => {
    expect(await write({ channel: 'msgapp', to: OWN, media: 'photo.jpg' })).toBe(204);
    const [photo] = received.splice(0);
    const answer = await file(photo?.id ?? '');
    expect(answer.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''photo.jpg");
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(sandboxMedia('photo.jpg')?.bytes ?? []));
    expect(await service.app.get(ErasureService, { strict: false }).erase(PHONE)).toMatchObject({ received: 5 });
    expect((await file(photo?.id ?? '')).status).toBe(404);
  });

  test.each<[string, object, number]>([
    ['nothing', { to: 'INFOS' }, 400],
    ['blanks', { to: 'INFOS', text: ' ' }, 400],
    ['to nobody', { text: 'Bonjour' }, 400],
    ['to a number that is not linked', { to: '22675000009', channel: 'msgapp', text: 'Bonjour' }, 409],
    ['on an unknown channel', { to: OWN, channel: 'fax', text: 'Bonjour' }, 409],
    ['an unknown file', { to: OWN, channel: 'msgapp', media: '../package.json' }, 404],
  ])('%s is refused', async (_, body, status) => {
    expect(await write(body)).toBe(status);
    expect(received).toEqual([]);
  });
});
