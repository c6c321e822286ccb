import { afterEach, expect, jest, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { Notifier } from '../../../src/common/notifier.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { EventService } from '../../../src/webhooks/feed/event-service.js';
import { ReaderSeats } from '../../../src/webhooks/feed/reader-seats.js';
import { eventually } from '../../support/common/eventually.js';
import { eventFault } from '../../support/events/event-schemas.js';
import { delivered, logEventsOf, verified } from '../../support/events/logged-events.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import type { Reply } from '../../support/http/http-client.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  for (const close of closing.splice(0)) await close();
});

interface Page {
  readonly items: readonly { sequence: number; previous: number | null; type: string; data: { position?: number } }[];
  readonly next_after: number;
  readonly last: number;
}

const pageOf = ({ status, body }: Reply): Page => {
  expect([status, body]).toEqual([200, expect.objectContaining({ items: expect.any(Array) })]);
  return body as Page;
};
const sequences = ({ items }: Page) => items.map(({ sequence }) => sequence);

describeOnOneAdapter('GET /events', (adapter) => {
  async function start(options: Partial<MessagingOptions> = {}) {
    const clock = new FakeClock();
    const service: Service = await startService(adapter, {
      clock: { useValue: clock },
      webhooks: { pepper: PEPPER },
      ...options,
    });
    closing.push(() => service.close());
    const client = await service.client(0);
    return { service, client, clock, id: client.accountId };
  }

  /** An account whose log is on, with this many deliveries. */
  async function recorded(count: number, options: Partial<MessagingOptions> = {}) {
    const started = await start(options);
    await pageOf(await started.client.call('events'));
    const events = Array.from({ length: count }, (_, position) => delivered(started.id, position));
    await logEventsOf(started.service, events);
    return started;
  }

  const seats = (service: Service, id: string): number =>
    service.app.get(ReaderSeats, { strict: false }).running(`account ${id}`);

  /** Sends a request and waits until it waits for an event. */
  async function held(service: Service, client: ApiClient, path: string): Promise<{ answer: Promise<Reply> }> {
    const before = seats(service, client.accountId);
    const answer = client.call(path);
    answer.catch(() => undefined);
    await eventually(() => seats(service, client.accountId) === before + 1);
    return { answer };
  }

  test('switches recording on before it answers, and returns what comes after', async () => {
    const { service, client, id } = await start();
    await logEventsOf(service, [delivered(id)]);
    expect(pageOf(await client.call('events'))).toEqual({ items: [], next_after: 0, last: 0 });
    await logEventsOf(service, [delivered(id), verified(id)]);
    const page = pageOf(await client.call('events?after=0'));
    expect(page).toMatchObject({ next_after: 2, last: 2 });
    expect(page.items[0]).toEqual({
      id: expect.stringMatching(/^evt_[\w-]{22}$/),
      type: 'message.delivered',
      timestamp: '2026-11-22T10:00:00.000Z',
      sequence: 1,
      previous: null,
      account: id,
      data: delivered(id).data,
    });
    expect(page.items[1]).toMatchObject({ sequence: 2, previous: 1, type: 'otp.verified' });
  });

  test('returns pages from the earliest event on, in which each event names the one before', async () => {
    const { client } = await recorded(5);
    const seen: (number | null)[][] = [];
    let after = '';
    for (let page = 0; page < 3; page++) {
      const { items, next_after } = pageOf(await client.call(`events?limit=2${after}`));
      seen.push(...items.map(({ sequence, previous }) => [sequence, previous]));
      after = `&after=${next_after}`;
    }
    expect(seen).toEqual([
      [1, null],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
    ]);
    expect(pageOf(await client.call('events?after=5'))).toEqual({ items: [], next_after: 5, last: 5 });
    // A number beyond the end is not from this log: the reader has read another one.
    expect((await client.call('events?after=4711')).status).toBe(410);
  });

  test('skips other types, and names the previous event of the same types', async () => {
    const { service, client, id } = await recorded(2);
    await logEventsOf(service, [verified(id), delivered(id), verified(id), delivered(id)]);
    const page = pageOf(await client.call('events?types=otp.verified'));
    expect(page.items.map(({ sequence, previous }) => [sequence, previous])).toEqual([
      [3, null],
      [5, 3],
    ]);
    expect(page).toMatchObject({ next_after: 6, last: 6 });
    const rest = pageOf(await client.call('events?types=otp.verified&after=3'));
    expect(rest.items.map(({ sequence, previous }) => [sequence, previous])).toEqual([[5, 3]]);
    const both = pageOf(await client.call('events?types=otp.verified,message.delivered&after=4&limit=1'));
    expect(both.items.map(({ sequence, previous }) => [sequence, previous])).toEqual([[5, 4]]);
    expect(both.next_after).toBe(5);
    expect(sequences(pageOf(await client.call('events?types=*')))).toHaveLength(6);
    expect(sequences(pageOf(await client.call('events?types=')))).toHaveLength(6);
    expect(pageOf(await client.call('events?types=message.read'))).toEqual({ items: [], next_after: 6, last: 6 });
  });

  test.each([
    ['after=x', 'Le champ after doit être un entier entre 0 et 999999999999999', 'field_not_integer'],
    ['after=-1', 'Le champ after doit être un entier entre 0 et 999999999999999', 'field_not_integer'],
    ['after=', 'Le champ after doit être un entier entre 0 et 999999999999999', 'field_not_integer'],
    ['limit=0', 'Le champ limit doit être un entier entre 1 et 500', 'field_not_integer'],
    ['limit=501', 'Le champ limit doit être un entier entre 1 et 500', 'field_not_integer'],
    ['wait=26', 'Le champ wait doit être un entier entre 0 et 25', 'field_not_integer'],
    ['types=message.sent,message.lost', 'Type d’événement inconnu : message.lost', 'event_type_unknown'],
    ['types=test.ping', 'Type d’événement inconnu : test.ping', 'event_type_unknown'],
    ['types=a&types=b', 'Le champ types doit être une chaîne de caractères', 'field_not_string'],
  ])('refuses %s', async (query, message, word) => {
    const { client } = await start();
    const answer = await client.call(`events?${query}`);
    expect([answer.status, answer.body]).toEqual([400, { statusCode: 400, message, error: 'Bad Request' }]);
    expect(answer.headers.get('x-error-code')).toBe(word);
    if (!/limit|wait/.test(query)) expect((await client.call(`events/stream?${query}`)).status).toBe(400);
  });

  test('tells a reader that is too late what is still kept', async () => {
    const { service, client, clock } = await recorded(5);
    await service.app.get(EventLog, { strict: false }).purge(clock.now() + 1_000_000_000, 3);
    for (const path of ['events?after=2', 'events/stream?after=2']) {
      const answer = await client.call(path);
      expect([answer.status, answer.body]).toEqual([
        410,
        expect.objectContaining({ message: expect.stringContaining('le premier disponible est le 4'), error: 'Gone' }),
      ]);
      expect(answer.headers.get('x-earliest-sequence')).toBe('4');
      expect(answer.headers.get('x-error-code')).toBe('events_gone');
    }
    expect(sequences(pageOf(await client.call('events?after=3')))).toEqual([4, 5]);
    const earliest = pageOf(await client.call('events'));
    expect(earliest.items.map(({ sequence, previous }) => [sequence, previous])).toEqual([
      [4, null],
      [5, 4],
    ]);
  });

  test('never joins two periods of recording', async () => {
    const { service, client, clock, id } = await recorded(2);
    const log = service.app.get(EventLog, { strict: false });
    expect(await log.switchOffUnused(clock.now() + 1, 10)).toBe(1);
    await logEventsOf(service, [delivered(id)]);
    const answer = await client.call('events?after=2');
    expect([answer.status, answer.headers.get('x-earliest-sequence')]).toEqual([410, '4']);
    await logEventsOf(service, [delivered(id), verified(id)]);
    const page = pageOf(await client.call('events'));
    expect(page.items.map(({ sequence, previous }) => [sequence, previous])).toEqual([
      [4, null],
      [5, 4],
    ]);
    const filtered = pageOf(await client.call('events?types=message.delivered'));
    expect(filtered.items.map(({ sequence, previous }) => [sequence, previous])).toEqual([[4, null]]);
  });

  test('shows only the account’s own events', async () => {
    const { service, client } = await recorded(2);
    const other = await service.client(0);
    expect(sequences(pageOf(await other.call('events')))).toEqual([]);
    expect((await client.call('events', { headers: { 'x-api-key': 'nobody' } })).status).toBe(401);
    const inQuery = await fetch(`${client.url}/events?x-api-key=${client.key}&api_key=${client.key}`);
    expect(inQuery.status).toBe(401);
  });

  test('records once a minute that the log is in use', async () => {
    const { service, client, clock } = await recorded(0);
    const log = service.app.get(EventLog, { strict: false });
    const noted = jest.spyOn(log, 'switchOn');
    clock.advance(59_999);
    await client.call('events');
    expect(noted).not.toHaveBeenCalled();
    clock.advance(1);
    await Promise.all([client.call('events'), client.call('events')]);
    await client.call('events');
    expect(noted.mock.calls.length).toBeGreaterThanOrEqual(1);
    expect(noted.mock.calls.length).toBeLessThanOrEqual(2);
    clock.advance(7 * 86_400_000);
    await client.call('events');
    expect(await log.switchOffUnused(clock.now() - 3_600_000, 10)).toBe(0);
  });

  test('returns the real events as the schemas describe them', async () => {
    const { service, client, clock, id } = await start({ otp: { pepper: PEPPER, limits: 'none' } });
    await service.app.get(LedgerService, { strict: false }).topUp(id, 10, { reference: 'inv-1' });
    await client.call('events');
    const number = ['22670000000', '22670990001', '22670990003', '22670990004'];
    const metadata = { order: '4711' };
    await client.sent({ signature: 'INFOS', content: 'x', number, metadata });
    await client.post('send/otp', { service: 'Boutique', number: '22670000000', metadata });
    const types = new Set<string>();
    let after = 0;
    await eventually(
      async () => {
        const page = pageOf(await client.call(`events?after=${after}`));
        for (const event of page.items) {
          expect(eventFault(event)).toBeUndefined();
          expect(event.previous).toBe(event.sequence === 1 ? null : event.sequence - 1);
          types.add(event.type);
        }
        after = page.next_after;
        return types.has('send.completed') && types.has('message.unknown');
      },
      Boolean,
      { clock, stepMs: 500 },
    );
    expect([...types]).toEqual(
      expect.arrayContaining(['message.sent', 'message.delivered', 'message.failed', 'message.undelivered']),
    );
  });

  test('masks numbers if the host asks for it', async () => {
    const { client } = await recorded(1, { webhooks: { pepper: PEPPER, maskNumbers: true } });
    expect(pageOf(await client.call('events')).items[0]?.data).toMatchObject({ number: '226******00' });
  });

  test('waits until there is an event', async () => {
    const { service, client, id } = await recorded(1);
    const { answer } = await held(service, client, 'events?after=1&wait=25');
    await logEventsOf(service, [delivered(id, 7)]);
    expect(pageOf(await answer).items).toMatchObject([{ sequence: 2, previous: 1, data: { position: 7 } }]);
    expect(seats(service, id)).toBe(0);
  });

  test('waits for the requested types', async () => {
    const { service, client, id } = await recorded(1);
    const { answer } = await held(service, client, 'events?after=1&wait=25&types=otp.verified');
    await logEventsOf(service, [delivered(id)]);
    await logEventsOf(service, [delivered(id), verified(id)]);
    const page = pageOf(await answer);
    expect(page.items).toMatchObject([{ sequence: 4, previous: null }]);
    expect(page.next_after).toBe(4);
  });

  test('reads the log again each second, and at once when another process sends a notice', async () => {
    const storage = new MemoryStorage();
    const { service, client, clock, id } = await recorded(1, { storage: { useValue: storage } });
    const log = service.app.get(EventLog, { strict: false });
    const recorder = Reflect.get(log, 'recorder') as { listeners: Set<unknown> };
    // This process is not notified of what the other one stores.
    recorder.listeners.clear();
    const first = await held(service, client, 'events?after=1&wait=25');
    await logEventsOf(service, [delivered(id)]);
    service.app.get(Notifier, { strict: false }).publish('event', id);
    expect(sequences(pageOf(await first.answer))).toEqual([2]);
    const second = await held(service, client, 'events?after=2&wait=25');
    await logEventsOf(service, [delivered(id)]);
    const answered = second.answer.then(pageOf);
    await eventually(() => seats(service, id) === 0, Boolean, { clock, stepMs: 1000 });
    expect(sequences(await answered)).toEqual([3]);
  });

  test('answers with an empty page when the wait is over', async () => {
    const { service, client, clock, id } = await recorded(1);
    const { answer } = await held(service, client, 'events?after=1&wait=3');
    await eventually(() => seats(service, id) === 0, Boolean, { clock, stepMs: 100 });
    expect(pageOf(await answer)).toEqual({ items: [], next_after: 1, last: 1 });
  });

  test('waits no longer than a request may take', async () => {
    const { service, client, clock, id } = await recorded(1, { limits: { requestMs: 5000 } });
    const { answer } = await held(service, client, 'events?after=1&wait=25');
    const began = clock.now();
    await eventually(() => seats(service, id) === 0, Boolean, { clock, stepMs: 100 });
    expect(pageOf(await answer).items).toEqual([]);
    expect(clock.now() - began).toBeLessThan(5000);
  });

  test('is answered with 503 when the application closes', async () => {
    const { service, client } = await recorded(1);
    const { answer } = await held(service, client, 'events?after=1&wait=25');
    const closed = service.app.close();
    const { status, headers } = await answer;
    expect([status, headers.get('retry-after'), headers.get('connection')]).toEqual([503, '1', 'close']);
    await closed;
  });

  test('forgets a client that leaves', async () => {
    const { service, client, id } = await recorded(1);
    const leave = new AbortController();
    const gone = fetch(`${client.url}/events?after=1&wait=25`, {
      headers: { 'x-api-key': client.key },
      signal: leave.signal,
    });
    gone.catch(() => undefined);
    await eventually(() => seats(service, id) === 1);
    leave.abort();
    await eventually(() => seats(service, id) === 0);
  });

  test('ends the wait if its key is revoked', async () => {
    const { service, client, clock, id } = await recorded(1);
    const { answer } = await held(service, client, 'events?after=1&wait=25&types=message.read');
    await service.app.get(AccountService, { strict: false }).revokeKey(client.key.split('_')[1] ?? '');
    const began = clock.now();
    await eventually(() => seats(service, id) === 0, Boolean, { clock, stepMs: 100 });
    expect(clock.now() - began).toBeLessThanOrEqual(5000);
    expect(pageOf(await answer).items).toEqual([]);
  });

  test('lets ten requests wait at a time', async () => {
    const { service, client, id } = await recorded(1);
    const waiting = [];
    for (let each = 0; each < 10; each++) waiting.push(await held(service, client, 'events?after=1&wait=25'));
    const refused = await client.call('events?after=1&wait=25');
    expect([refused.status, refused.headers.get('x-error-code'), refused.headers.get('retry-after')]).toEqual([
      429,
      'too_many_event_readers',
      '1',
    ]);
    expect((await client.call('events/stream')).status).toBe(429);
    expect((await client.call('events?after=0&wait=25')).status).toBe(200);
    const other = await service.client(0);
    const { answer } = await held(service, other, 'events?wait=25');
    await logEventsOf(service, [delivered(id), delivered(other.accountId)]);
    for (const each of waiting) expect(sequences(pageOf(await each.answer))).toEqual([2]);
    expect(sequences(pageOf(await answer))).toEqual([1]);
    expect(seats(service, id)).toBe(0);
  });

  test('counts the wait from the arrival of the request, however late its first read comes', async () => {
    const { service, client, clock } = await recorded(1);
    const log = service.app.get(EventLog, { strict: false });
    const read = log.readStored.bind(log);
    jest.spyOn(log, 'readStored').mockImplementationOnce(async (query) => {
      clock.advance(10_000);
      return read(query);
    });
    const began = clock.now();
    const { answer } = await held(service, client, 'events?after=1&wait=25');
    let answered = false;
    answer.then(() => (answered = true));
    await eventually(() => answered, Boolean, { clock, stepMs: 100 });
    expect(pageOf(await answer)).toEqual({ items: [], next_after: 1, last: 1 });
    expect(clock.now() - began).toBeLessThanOrEqual(26_000);
  });

  test('is answered before its deadline even if the last read hangs', async () => {
    const { service, client, clock } = await recorded(1);
    const log = service.app.get(EventLog, { strict: false });
    const read = log.readStored.bind(log);
    let letGo = () => {};
    const look = new Promise<void>((resolve) => (letGo = resolve));
    jest.spyOn(log, 'readStored').mockImplementation(async (query) => {
      if (clock.elapsed() - began > 24_500) await look;
      return read(query);
    });
    const began = clock.elapsed();
    const { answer } = await held(service, client, 'events?after=1&wait=25');
    let answered = false;
    answer.then(() => (answered = true));
    await eventually(() => answered, Boolean, { clock, stepMs: 100 });
    expect(pageOf(await answer)).toEqual({ items: [], next_after: 1, last: 1 });
    letGo();
  });

  test('can be used by hosts without HTTP', async () => {
    const { service, client, id } = await start({ controllers: false });
    expect((await client.call('events')).status).toBe(404);
    const events = service.app.get(EventService, { strict: false });
    await events.switchOn(id);
    const heard: number[] = [];
    const over = new AbortController();
    const listening = (async () => {
      for await (const event of events.listen(id, { types: ['otp.verified'], signal: over.signal })) {
        heard.push(event.sequence);
      }
    })();
    await logEventsOf(service, [verified(id), delivered(id), verified(id)]);
    await eventually(() => heard.length === 2);
    over.abort();
    await listening;
    expect(heard).toEqual([1, 3]);
    expect(await events.read(id, { after: 1, limit: 1 })).toMatchObject({ items: [{ sequence: 2 }], next_after: 2 });
    await expect(Reflect.apply(events.read, events, [id, { since: 1 }])).rejects.toThrow('Option since');
    await expect(events.read('a\0b')).rejects.toMatchObject({ code: 'error.account_not_found' });
  });
});
