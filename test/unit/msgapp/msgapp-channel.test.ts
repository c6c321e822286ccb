import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { DELIVERY_EVENTS } from '../../../src/events/event-types.js';
import type { MsgappOptions } from '../../../src/msgapp/msgapp-options.js';
import type { LinkEvent } from '../../../src/msgapp/msgapp-transport.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import type { RepeatPolicy } from '../../../src/outbox/delivery/delivery-result.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

const NUMBER = '22670000000';
const TO = '22675000000';
const opened = closeAfterEach();
const cut: LinkEvent = { kind: 'ended', end: { next: 'retry', reason: 'cut' } };

beforeAll(() => Logger.overrideLogger(false));

async function open(options: Partial<MsgappOptions> = {}, repeat?: RepeatPolicy) {
  const world = await MsgappFixture.open();
  const transport = new ScriptedTransport(repeat);
  const process = opened(await new MsgappProcess(world, transport, options).start());
  const id = await linked(process, NUMBER);
  const link = transport.last();
  const send = async (body: string, to = TO, from?: string) => {
    const { messageID } = await process.service.sendText(ACCOUNT, { to, body, from });
    // A worker that has just been busy gathers for a moment.
    await world.pass(60, 30);
    return messageID;
  };
  const status = async (messageId: string) => (await process.service.message(ACCOUNT, messageId)).status;
  return { world, transport, process, id, link, send, status };
}

const bodies = (link: { sent: readonly { content: object }[] }) =>
  link.sent.map(({ content }) => ('text' in content ? content.text : content));

describe('a message', () => {
  test('is handed to the connection of its session, and each state has its time', async () => {
    const { world, process, link, send } = await open();
    await world.pass(1000);
    const at = new Date(world.clock.now()).toISOString();
    const id = await send('Bonjour');
    expect(link.sent).toEqual([{ messageId: id, from: NUMBER, to: TO, attempt: 1, content: { text: 'Bonjour' } }]);
    await world.pass(1000);
    await link.say({ kind: 'receipt', reference: `ref-${id}`, status: 'delivered', at: world.clock.now() });
    await world.pass(1000);
    await link.say({ kind: 'receipt', reference: `ref-${id}`, status: 'read', at: world.clock.now() });
    await settled();
    const later = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
    expect(await process.service.message(ACCOUNT, id)).toEqual({
      messageID: id,
      from: NUMBER,
      to: TO,
      reply_to: null,
      body: 'Bonjour',
      media: null,
      metadata: null,
      send_at: null,
      valid_until: null,
      window: null,
      due_at: null,
      status: 'read',
      error: null,
      units: 1,
      refunded_units: 0,
      queued_at: at,
      sent_at: later(30),
      delivered_at: later(1060),
      read_at: later(2060),
      failed_at: null,
      updated_at: later(2060),
    });
    expect([await world.balance(), await world.books()]).toEqual([999, []]);
  });

  test('that the channel refuses fails and is refunded once', async () => {
    const { world, transport, process, link, send } = await open();
    transport.carrier = async () => ({ kind: 'refused', error: '479' });
    const id = await send('Bonjour');
    expect(await process.service.message(ACCOUNT, id)).toMatchObject({
      status: 'failed',
      error: '479',
      refunded_units: 1,
      failed_at: expect.any(String),
    });
    await link.say({ kind: 'receipt', reference: `ref-${id}`, status: 'failed', at: world.clock.now() });
    await world.pass(120_000, 5000);
    expect([await world.balance(), await world.books(), link.sent.length]).toEqual([1000, [], 1]);
  });

  test('that is refused after it was taken is refunded too', async () => {
    const { world, process, link, send } = await open();
    const id = await send('Bonjour');
    const failed: LinkEvent = { kind: 'receipt', reference: `ref-${id}`, status: 'failed', error: '463', at: 5 };
    await link.say(failed);
    await link.say(failed);
    await settled();
    expect(await process.service.message(ACCOUNT, id)).toMatchObject({ status: 'failed', error: '463' });
    expect([await world.balance(), await world.books()]).toEqual([1000, []]);
  });

  test('without an answer in time is unknown, is never sent again, and its connection is replaced', async () => {
    const { world, transport, link, send, status } = await open();
    transport.carrier = () => new Promise(() => undefined);
    const id = await send('Bonjour');
    await world.pass(59_000, 1000);
    expect([await status(id), link.closed, transport.links.length]).toEqual(['unknown', 1, 2]);
    transport.carrier = async () => ({ kind: 'sent' });
    await transport.last().say({ kind: 'open', number: NUMBER });
    await send('Encore');
    expect([bodies(link), bodies(transport.last())]).toEqual([['Bonjour'], ['Encore']]);
    await world.pass(300_000, 5000);
    expect([await status(id), await world.balance(), await world.books()]).toEqual(['unknown', 998, []]);
  });

  test('whose result is unknown keeps its reference, so a late receipt settles it', async () => {
    const { world, transport, link, send, status } = await open();
    transport.carrier = async () => ({ kind: 'unknown', error: 'ack_timeout', reference: 'kept' });
    const id = await send('Bonjour');
    expect(await status(id)).toBe('unknown');
    await link.say({ kind: 'receipt', reference: 'kept', status: 'delivered', at: world.clock.now() });
    await settled();
    expect([await status(id), await world.balance()]).toEqual(['delivered', 999]);
  });

  test('of a transport that throws is unknown, and the next one is sent', async () => {
    const { transport, send, status } = await open();
    transport.carrier = async () => {
      throw 1006;
    };
    const id = await send('Bonjour');
    transport.carrier = async () => ({ kind: 'sent' });
    const next = await send('Encore');
    expect([await status(id), await status(next)]).toEqual(['unknown', 'sent']);
  });

  test('waits while its session is cut, without using up its attempts, and is sent when the session is back', async () => {
    const { world, process, transport, link, send, status } = await open();
    const first = await send('Un');
    // Accepted at the very moment of the cut.
    const sending = process.service.sendText(ACCOUNT, { to: TO, body: 'Deux' });
    await settled(0);
    await Promise.resolve();
    void link.say(cut);
    const id = (await sending).messageID;
    await world.pass(1_800_000, 5000);
    expect([await status(first), await status(id)]).toEqual(['sent', 'queued']);
    transport.onOpen = (each) => void each.say({ kind: 'open', number: NUMBER });
    await world.pass(120_000, 1000);
    expect([await status(id), bodies(transport.last())]).toEqual(['sent', ['Deux']]);
  });

  test('of a session that has ended is refused with the state in which it ended, and refunded', async () => {
    const { world, process, transport, link, send } = await open({ pacing: { perMinute: 1 } });
    await send('Un');
    const ids = [await send('Deux'), await send('Trois')];
    await link.say({ kind: 'ended', end: { next: 'give-up', status: 'banned', reason: '403' } });
    await world.pass(2000);
    for (const id of ids) {
      expect(await process.service.message(ACCOUNT, id)).toMatchObject({ status: 'failed', error: 'banned' });
    }
    expect([await world.balance(), await world.books(), bodies(link), transport.links.length]).toEqual([
      999,
      [],
      ['Un'],
      1,
    ]);
  });

  test('of a session that ended before a crash is found and refunded by the next process', async () => {
    const { world, process, id, send } = await open({ pacing: { perMinute: 1 } });
    await send('Un');
    const left = await send('Deux');
    await process.stop();
    const lease = await world.storage.store(SessionStore).seize(id, 'somebody', world.clock.now() + 1000);
    if (lease)
      await world.storage.store(SessionStore).move(lease, { to: 'replaced', reason: '440', at: world.clock.now() });
    const next = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
    await world.pass(2000);
    expect(await next.service.message(ACCOUNT, left)).toMatchObject({ status: 'failed', error: 'replaced' });
    expect(await world.books()).toEqual([]);
  });
});

describe('one number', () => {
  test('sends in the order of acceptance, one message at a time', async () => {
    const { world, process, transport, link, send } = await open();
    const gates: Gate[] = [];
    transport.carrier = async () => {
      const gate = new Gate();
      gates.push(gate);
      await gate.opened;
      return { kind: 'sent' };
    };
    for (let index = 0; index < 5; index++) await send(`${index}`);
    for (let index = 0; index < 5; index++) {
      await world.pass(1000);
      expect(bodies(link)).toEqual(Array.from({ length: index + 1 }, (_, at) => `${at}`));
      expect(process.channel.lanes()).toEqual([]);
      gates[index]?.open();
    }
    await world.pass(1000);
    expect(link.peak).toBe(1);
  });

  test('rests between two messages, for longer and shorter times', async () => {
    const { world, transport, process, link, send } = await open({ pacing: { perMinute: 30, jitter: 0.5 } });
    const at: number[] = [];
    const random = [0, 0.999, 0.5, 0.25];
    process.ids.random = () => random[at.length - 1] ?? 0.5;
    transport.carrier = async () => {
      at.push(world.clock.now());
      return { kind: 'sent' };
    };
    for (let index = 0; index < 5; index++) await send(`${index}`);
    await world.pass(15_000, 10);
    const rests = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(link.sent).toHaveLength(5);
    for (const [index, least] of [1000, 2998, 2000, 1500].entries()) {
      expect(rests[index]).toBeGreaterThanOrEqual(least);
      expect(rests[index]).toBeLessThan(least + 100);
    }
  });

  test('does not rest after a message that was never sent', async () => {
    const { world, transport, link, send, status } = await open({ pacing: { perMinute: 1 } });
    transport.directory = async (number) => number !== TO;
    const nobody = await send('Personne');
    await send('Quelqu’un', '22675000001');
    await world.pass(1000);
    expect([await status(nobody), bodies(link)]).toEqual(['failed', ['Quelqu’un']]);
  });

  test('does not delay another number while it waits for its answer', async () => {
    const { world, process, transport, send, link } = await open();
    await linked(process, '22670000001');
    const second = transport.last();
    transport.carrier = (_, each) => (each === link ? new Promise(() => undefined) : Promise.resolve({ kind: 'sent' }));
    await send('Un');
    for (let index = 0; index < 5; index++) await send(`${index}`, TO, '22670000001');
    await world.pass(2000);
    expect([bodies(link), bodies(second)]).toEqual([['Un'], ['0', '1', '2', '3', '4']]);
  });

  test('does not delay another number that was claimed together with it', async () => {
    const { world, process, transport, link } = await open();
    await linked(process, '22670000001');
    const second = transport.last();
    transport.carrier = (_, each) => (each === link ? new Promise(() => undefined) : Promise.resolve({ kind: 'sent' }));
    const text = (from: string, body: string) => process.service.sendText(ACCOUNT, { to: TO, body, from });
    await Promise.all([text(NUMBER, 'Un'), text('22670000001', '0'), text('22670000001', '1')]);
    await world.pass(1000, 20);
    expect([bodies(link), bodies(second)]).toEqual([['Un'], ['0', '1']]);
  });

  test.each([40])('does not delay %i others either', async (count) => {
    const { world, process, transport, send } = await open();
    const hung = new Promise<never>(() => undefined);
    const numbers = Array.from({ length: count }, (_, index) => `226710000${String(index).padStart(2, '0')}`);
    for (const number of numbers) await linked(process, number);
    transport.carrier = ({ from }) => (from.endsWith('00') ? Promise.resolve({ kind: 'sent' }) : hung);
    const ids: string[] = [];
    for (const number of numbers) ids.push(await send('Bonjour', TO, number));
    await world.pass(1000);
    expect(transport.links.filter(({ sent }) => sent.length === 1)).toHaveLength(count);
    ids.push(await send('Encore', TO, numbers[0]));
    await world.pass(1000);
    expect((await process.service.message(ACCOUNT, ids.at(-1) ?? '')).status).toBe('sent');
  });
});

describe('a recipient', () => {
  test('that is not on the channel is never written to: the message fails and is refunded, after one look-up', async () => {
    const { world, transport, process, link, send } = await open();
    transport.directory = async () => false;
    const ids = [await send('Un'), await send('Deux')];
    await world.pass(1000);
    for (const id of ids) {
      expect(await process.service.message(ACCOUNT, id)).toMatchObject({ status: 'failed', error: 'not_on_channel' });
    }
    expect([link.sent, transport.asked, await world.balance()]).toEqual([[], [TO], 1000]);
    transport.directory = async () => true;
    await world.pass(600_000, 10_000);
    await send('Trois');
    expect([bodies(link), transport.asked]).toEqual([['Trois'], [TO, TO]]);
  });

  test.each<[string, () => Promise<boolean | undefined>]>([
    ['is not known', async () => undefined],
    ['never comes', () => new Promise<boolean>(() => undefined)],
    [
      'fails',
      async () => {
        throw new Error('no');
      },
    ],
  ])('with the answer %s is looked up again, and nothing is sent meanwhile', async (_, directory) => {
    const { world, transport, link, send, status } = await open();
    transport.directory = directory;
    const id = await send('Un');
    await world.pass(20_000, 500);
    expect(['queued', 'sending']).toContain(await status(id));
    expect(link.sent).toEqual([]);
    transport.directory = async () => true;
    await world.pass(60_000, 500);
    expect([await status(id), bodies(link)]).toEqual(['sent', ['Un']]);
  });
});

describe('a restriction', () => {
  test('keeps a number from new contacts for its time, but not from those it has reached before', async () => {
    const { world, process, link, id, send, status } = await open();
    const seen: object[] = [];
    process.events.on('session.restricted', (event) => seen.push(event));
    await send('Bonjour');
    await link.say({ kind: 'restricted', code: '463', forMs: 60_000 });
    const until = new Date(world.clock.now() + 60_000).toISOString();
    expect(seen).toMatchObject([
      { account: ACCOUNT, data: { channel: 'msgapp', id, status: 'connected', number: NUMBER, reason: '463', until } },
    ]);
    const refused = await send('Nouveau', '22675000001');
    const known = await send('Connu');
    await world.pass(1000);
    expect(await process.service.message(ACCOUNT, refused)).toMatchObject({ status: 'failed', error: 'restricted' });
    expect([await status(known), bodies(link), await world.balance()]).toEqual(['sent', ['Bonjour', 'Connu'], 998]);
    await world.pass(60_000, 1000);
    await send('Nouveau', '22675000001');
    expect(bodies(link)).toEqual(['Bonjour', 'Connu', 'Nouveau']);
  });

  test('of one number does not apply to another', async () => {
    const { process, transport, link, send } = await open();
    await linked(process, '22670000001');
    await link.say({ kind: 'restricted', code: '463', forMs: 60_000 });
    await send('Nouveau', '22675000001', '22670000001');
    expect(bodies(transport.last())).toEqual(['Nouveau']);
  });
});

describe('receipts', () => {
  test('that come before the hand-off is answered or stored wait, so sent is always first', async () => {
    const { world, transport, process, link } = await open();
    const moved: string[] = [];
    process.events.on(DELIVERY_EVENTS, ({ data: { status } }) => moved.push(status));
    transport.carrier = async ({ messageId }) => {
      const receipt = { kind: 'receipt', reference: `ref-${messageId}`, at: world.clock.now() } as const;
      await link.say({ ...receipt, status: 'read' });
      await settled();
      void Promise.resolve().then(() => link.say({ ...receipt, status: 'delivered' }));
      return { kind: 'sent', reference: `ref-${messageId}` };
    };
    const { messageID } = await process.service.sendText(ACCOUNT, { to: TO, body: 'Bonjour' });
    await world.pass(500, 50);
    expect([moved[0], moved.at(-1)]).toEqual(['sent', 'read']);
    expect(await process.service.message(ACCOUNT, messageID)).toMatchObject({ status: 'read', error: null });
    expect((await process.service.message(ACCOUNT, messageID)).sent_at).not.toBeNull();
  });

  test('find their message after a restart', async () => {
    const { world, process, send } = await open();
    const id = await send('Bonjour');
    await process.stop();
    const transport = new ScriptedTransport();
    const next = opened(await new MsgappProcess(world, transport).start());
    await transport.last().say({ kind: 'receipt', reference: `ref-${id}`, status: 'delivered', at: world.clock.now() });
    await settled();
    expect((await next.service.message(ACCOUNT, id)).status).toBe('delivered');
  });

  test('without a message are forgotten after a while', async () => {
    const { world, link, send, status, transport } = await open();
    await link.say({ kind: 'receipt', reference: 'ref-late', status: 'read', at: 1 });
    await world.pass(61_000, 1000);
    transport.carrier = async () => ({ kind: 'sent', reference: 'ref-late' });
    expect(await status(await send('Bonjour'))).toBe('sent');
  });

  test('wait for a database that is unavailable', async () => {
    const { world, process, link, send, status } = await open();
    const id = await send('Bonjour');
    const outbox = world.storage.store(OutboxStore);
    const settle = outbox.settle.bind(outbox);
    outbox.settle = async () => {
      throw new StorageUnavailableError('away');
    };
    await link.say({ kind: 'receipt', reference: `ref-${id}`, status: 'delivered', at: world.clock.now() });
    await world.pass(3000);
    expect(await status(id)).toBe('sent');
    outbox.settle = settle;
    await world.pass(2000);
    expect(await status(id)).toBe('delivered');
    expect(process.channel.name).toBe('msgapp');
  });

  test('wait until the hand-off is stored, however long that takes', async () => {
    const { world, process, link, send } = await open();
    const outbox = world.storage.store(OutboxStore);
    const gate = new Gate();
    const settle = outbox.settle.bind(outbox);
    outbox.settle = async (settlements) => {
      if (settlements.some(({ status }) => status === 'sent')) await gate.opened;
      return settle(settlements);
    };
    const id = await send('Bonjour');
    await link.say({ kind: 'receipt', reference: `ref-${id}`, status: 'delivered', at: world.clock.now() });
    await settled();
    expect((await process.service.message(ACCOUNT, id)).status).toBe('sending');
    gate.open();
    await settled();
    const { status, sent_at, delivered_at } = await process.service.message(ACCOUNT, id);
    expect([status, sent_at, delivered_at]).toEqual(['delivered', expect.any(String), expect.any(String)]);
  });

  test('that no database accepts do not delay the others', async () => {
    const { world, link, send, status } = await open();
    const id = await send('Bonjour');
    const outbox = world.storage.store(OutboxStore);
    const byReference = outbox.byReference.bind(outbox);
    outbox.byReference = async (channel, references) => {
      if (references.includes('\0')) throw new TypeError('no such text');
      return byReference(channel, references);
    };
    const receipt = { kind: 'receipt', status: 'delivered', at: world.clock.now() } as const;
    for (const reference of ['a', '\0', 'b', `ref-${id}`, '\0']) void link.say({ ...receipt, reference });
    await settled();
    expect(await status(id)).toBe('delivered');
  });

  test('of an older connection count too, because they are true', async () => {
    const { world, link, send, status } = await open();
    const id = await send('Bonjour');
    await link.say(cut);
    await world.pass(2000);
    await link.say({ kind: 'receipt', reference: `ref-${id}`, status: 'delivered', at: world.clock.now() });
    await settled();
    expect(await status(id)).toBe('delivered');
  });
});

describe('a shutdown', () => {
  test('finishes the messages on the wire, and leaves the rest to the next process', async () => {
    const { world, process, transport, link, send } = await open();
    const gate = new Gate();
    const signals: AbortSignal[] = [];
    transport.carrier = async (_, __, signal) => {
      signals.push(signal);
      await gate.opened;
      return { kind: 'sent' };
    };
    const first = await send('Un');
    const second = await send('Deux');
    const stopping = process.stop();
    await settled();
    expect([signals.map(({ aborted }) => aborted), link.closed]).toEqual([[true], 0]);
    gate.open();
    await stopping;
    expect(link.closed).toBe(1);
    const next = new ScriptedTransport();
    next.onOpen = (each) => void each.say({ kind: 'open', number: NUMBER });
    const after = opened(await new MsgappProcess(world, next).start());
    await world.pass(2000);
    expect([bodies(link), bodies(next.last())]).toEqual([['Un'], ['Deux']]);
    for (const id of [first, second]) expect((await after.service.message(ACCOUNT, id)).status).toBe('sent');
  });
});

describe('two channels side by side', () => {
  test('have their own numbers, messages and prices, and one balance', async () => {
    const world = await MsgappFixture.open();
    const one = opened(await new MsgappProcess(world, new ScriptedTransport(), { channel: 'one' }).start());
    const two = opened(
      await new MsgappProcess(world, new ScriptedTransport(), {
        channel: 'two',
        tariff: { text: 5, media: 9 },
      }).start(),
    );
    await linked(one, NUMBER);
    await expect(two.service.sendText(ACCOUNT, { to: TO, body: 'x' })).rejects.toMatchObject({
      code: 'error.msgapp_no_session',
    });
    expect(await two.sessions.status(ACCOUNT)).toEqual({ status: 'disconnected', sessions: [] });
    const other = await linked(two, NUMBER);
    const a = await one.service.sendText(ACCOUNT, { to: TO, body: 'un' });
    const b = await two.service.sendText(ACCOUNT, { to: TO, body: 'deux' });
    await world.pass(100, 50);
    expect([bodies(one.transport.last()), bodies(two.transport.last())]).toEqual([['un'], ['deux']]);
    expect(await world.balance()).toBe(994);
    for (const [process, id] of [
      [two, a.messageID],
      [one, b.messageID],
    ] as const) {
      await expect(process.service.message(ACCOUNT, id)).rejects.toMatchObject({ code: 'error.message_not_found' });
    }
    await expect(one.sessions.logout(ACCOUNT, other)).rejects.toMatchObject({ code: 'error.session_not_found' });
  });
});
