import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { ContactData, ReceivedMessage } from '../../../src/events/events.api.js';
import { ContactStore } from '../../../src/msgapp/contacts/contact-store.js';
import { resolveMsgappSettings } from '../../../src/msgapp/msgapp-options.js';
import type { IncomingMsgapp } from '../../../src/msgapp/msgapp-transport.js';
import { ReceivedMessageStore } from '../../../src/msgapp/received/received-message-store.js';
import { ReceivedMessages } from '../../../src/msgapp/received/received-messages.js';
import { ReceivedOrigins } from '../../../src/msgapp/received/received-origins.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000000';

beforeAll(() => Logger.overrideLogger(false));

describe('messages to a linked number', () => {
  let world: MsgappFixture;
  let process: MsgappProcess;
  let store: ReceivedMessageStore;
  let sessionId: string;
  let heard: ReceivedMessage[];

  beforeEach(async () => {
    world = await MsgappFixture.open();
    store = world.storage.store(ReceivedMessageStore);
    await world.storage.store(EventLog).switchOn(ACCOUNT, 0);
    process = await start();
    sessionId = await linked(process, NUMBER);
    heard = [];
    process.events.on('msgapp.received', ({ data }) => void heard.push(data));
  });

  afterEach(() => process.close());

  async function start(): Promise<MsgappProcess> {
    const made = new MsgappProcess(world, new ScriptedTransport());
    const { sessions, vault, events, clock, ids } = made;
    const settings = resolveMsgappSettings({ tariff: { text: 1, media: 2 } });
    const [outbox, contacts] = [world.storage.store(OutboxStore), world.storage.store(ContactStore)];
    const origins = new ReceivedOrigins(store, vault);
    new ReceivedMessages(sessions, store, contacts, origins, outbox, vault, settings, events, clock, ids);
    return made.start();
  }

  const text = (words: string, id = words): IncomingMsgapp => ({
    id,
    chat: 'friend',
    from: '22675000000',
    kind: 'text',
    text: words,
    at: 0,
  });
  const say = (message: IncomingMsgapp) => process.transport.last(sessionId).say({ kind: 'message', message });
  const logged = async () => {
    const { events } = await world.storage.store(EventLog).read({ accountId: ACCOUNT, after: 0, limit: 500 });
    return events.flatMap(({ data }) => ('refers_to' in data ? [data.text] : []));
  };

  test('the listener’s promise resolves once a message is stored', async () => {
    await say(text('Bonjour'));
    expect(await logged()).toEqual(['Bonjour']);
    expect(heard).toMatchObject([{ session: sessionId, from: '22675000000', text: 'Bonjour' }]);
  });

  test('messages wait while the storage is unavailable, in their order, each once', async () => {
    const { receive } = store;
    store.receive = async () => {
      throw new StorageUnavailableError('away');
    };
    const saying = [say(text('Un')), say(text('Deux')), say(text('Un')), say(text('Trois'))];
    await world.pass(5000, 500);
    expect([await logged(), heard]).toEqual([[], []]);
    store.receive = receive;
    await world.pass(2000, 500);
    await Promise.all(saying);
    expect(await logged()).toEqual(['Un', 'Deux', 'Trois']);
    expect(heard).toHaveLength(3);
  });

  test('a message is one event even if the answer to its COMMIT was lost', async () => {
    const { receive } = store;
    store.receive = async (messages) => {
      store.receive = receive;
      await receive.call(store, messages);
      throw new StorageUnavailableError('the connection is gone');
    };
    const saying = say(text('Bonjour'));
    await world.pass(5000, 500);
    await saying;
    expect(await logged()).toEqual(['Bonjour']);
  });

  test('messages that a connection reports after its end are stored', async () => {
    const link = process.transport.last(sessionId);
    void link.say({ kind: 'ended', end: { next: 'retry', reason: 'gone' } });
    await link.say({ kind: 'message', message: text('Tard') });
    expect(await logged()).toEqual(['Tard']);
  });

  test('messages that come again in another process are recognised', async () => {
    await say(text('Bonjour'));
    await process.stop();
    process = await start();
    await world.pass(10_000, 500);
    const link = process.transport.last(sessionId);
    await link.say({ kind: 'open', number: NUMBER });
    await say(text('Bonjour'));
    await say(text('Bonsoir'));
    expect(await logged()).toEqual(['Bonjour', 'Bonsoir']);
  });

  test('events have at most 8 KiB, whatever a sender writes', async () => {
    const long = '\u0001😀'.repeat(40_000);
    const media = { mimetype: long, size: Number.NaN, fileName: long, file: 'f' };
    await say({ ...text('x'), kind: 'document', text: long, media, refersTo: { reference: long, text: long } });
    expect(heard[0]).toMatchObject({ truncated: true, media: { size: null } });
    expect(Buffer.byteLength(JSON.stringify(heard[0]))).toBeLessThan(7800);
  });

  test('a sender is a contact of the linked number, and the app may say later which number it has', async () => {
    const identified: ContactData[] = [];
    process.events.on('contact.identified', ({ data }) => void identified.push(data));
    const hidden = { from: undefined, identity: 'lid-1', name: 'Awa' };
    await say({ ...text('Bonjour'), ...hidden });
    const [{ contact } = { contact: null }] = heard;
    expect([heard[0]?.from, contact]).toEqual([null, expect.stringMatching(/^ct_/)]);
    const mapping = { kind: 'identified', identity: 'lid-1', number: '22675000000' } as const;
    await process.transport.last(sessionId).say(mapping);
    await process.transport.last(sessionId).say(mapping);
    expect(identified).toEqual([{ contact, channel: 'msgapp', to: NUMBER, number: '22675000000', merged: null }]);
    await say({ ...text('Bonsoir'), ...hidden });
    await say(text('Encore'));
    expect(heard.slice(1)).toMatchObject([
      { contact, from: '22675000000' },
      { contact, from: '22675000000' },
    ]);
  });

  test('of a sender of whom the app says nothing there is no contact', async () => {
    await say({ ...text('Bonjour'), from: undefined });
    await process.transport.last(sessionId).say({ kind: 'identified', identity: 'lid-9', number: 'unknown' });
    expect(heard).toMatchObject([{ contact: null, from: null }]);
  });

  test('what no database accepts in a name, an identity or a reference does not cost the message', async () => {
    const odd = { identity: 'lid\u0000-1', name: 'A\u0000wa', refersTo: { reference: 'x\u0000', text: undefined } };
    const byReference = jest.spyOn(world.storage.store(OutboxStore), 'byReference');
    await say({ ...text('Bonjour'), ...odd });
    await say({ ...text('Bonsoir'), identity: 'x'.repeat(256) });
    const [{ contact } = { contact: null }] = heard;
    expect(heard.map((each) => each.contact)).toEqual([contact, contact]);
    const found = await world.storage.store(ContactStore).find(ACCOUNT, contact ?? '');
    expect(found).toMatchObject({ identity: undefined, number: '22675000000', name: 'Awa' });
    expect(byReference).not.toHaveBeenCalled();
  });

  test('if the database refuses one message, the others are still stored', async () => {
    const { receive } = store;
    store.receive = async (messages) => {
      if (messages.some(({ event }) => event(undefined).data.text === 'poison')) throw new Error('no such character');
      return receive.call(store, messages);
    };
    await Promise.all(['Un', 'poison', 'Deux'].map((words) => say(text(words))));
    expect(await logged()).toEqual(['Un', 'Deux']);
  });
});
