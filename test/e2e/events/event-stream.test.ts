import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, expect, jest, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ReaderSeats } from '../../../src/webhooks/feed/reader-seats.js';
import { eventually } from '../../support/common/eventually.js';
import { EventReader } from '../../support/events/event-reader.js';
import { delivered, logEventsOf, verified } from '../../support/events/logged-events.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const closing: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  for (const close of closing.splice(0)) await close();
});

/** A token in the form of a JWT. */
const TOKEN = `${Buffer.from('{"alg":"EdDSA"}').toString('base64url')}.e30.c2ln`;

describeOnBothAdapters('GET /events/stream', (adapter) => {
  /** An account whose log is on, with this many deliveries. */
  async function recorded(count: number, options: Partial<MessagingOptions> = {}) {
    const clock = new FakeClock();
    const service: Service = await startService(adapter, {
      clock: { useValue: clock },
      webhooks: { pepper: PEPPER },
      ...options,
    });
    closing.push(() => service.close());
    const client = await service.client(0);
    const id = client.accountId;
    await client.call('events');
    if (count > 0)
      await logEventsOf(
        service,
        Array.from({ length: count }, (_, at) => delivered(id, at)),
      );
    return { service, client, clock, id };
  }

  async function open(client: ApiClient, query = '', headers: Record<string, string> = {}): Promise<EventReader> {
    const reader = await EventReader.open(`${client.url}/events/stream${query}`, {
      'x-api-key': client.key,
      ...headers,
    });
    closing.push(() => reader.leave());
    return reader;
  }

  /** Stores 4000 events, 20 MB. */
  async function fill(service: Service, accountId: string): Promise<void> {
    const from = { id: 'x', from: '22670000000', to: 'INFOS' };
    const data = { ...from, text: 'x'.repeat(5000), truncated: false, received_at: '2026-11-22' };
    const batch = Array.from({ length: 200 }, () => ({ type: 'sms.received', accountId, at: 0, data }) as const);
    for (let stored = 0; stored < 4000; stored += 200) await logEventsOf(service, batch);
  }

  const seats = (service: Service, id: string): number =>
    service.app.get(ReaderSeats, { strict: false }).running(`account ${id}`);
  const sequences = ({ events }: EventReader) => events.map(({ data }) => data.sequence);
  /** The ids of a stream in their order, including those without data. */
  const ids = ({ text }: EventReader) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => Number(id));

  test('sends what is kept, then each event as it happens; the id is the sequence number', async () => {
    const { service, client, id } = await recorded(2);
    const reader = await open(client);
    expect(reader.status).toBe(200);
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
    });
    await eventually(() => reader.events.length === 2);
    await logEventsOf(service, [verified(id)]);
    await eventually(() => reader.events.length === 3);
    expect(sequences(reader)).toEqual([1, 2, 3]);
    expect(ids(reader)).toEqual([1, 2, 3]);
    expect(reader.text).toMatch(/^: open\nretry: 2000\n\nid: 1\ndata: \{/);
    expect(reader.events[2]).toEqual({
      type: 'message',
      data: {
        id: expect.any(String),
        type: 'otp.verified',
        timestamp: '2026-11-22T10:00:00.000Z',
        sequence: 3,
        previous: 2,
        account: id,
        data: verified(id).data,
      },
    });
  });

  test('continues after Last-Event-ID, which takes precedence over `after`', async () => {
    const { client } = await recorded(4);
    const after = await open(client, '?after=1');
    const last = await open(client, '?after=1', { 'last-event-id': '3' });
    const blank = await open(client, '?after=2', { 'last-event-id': '' });
    await eventually(() => after.events.length === 3 && last.events.length === 1 && blank.events.length === 2);
    expect([sequences(after), sequences(last), sequences(blank)]).toEqual([[2, 3, 4], [4], [3, 4]]);
    const wrong = await open(client, '', { 'last-event-id': 'x' });
    expect([wrong.status, wrong.response.headers['x-error-code']]).toEqual([400, 'field_not_integer']);
  });

  test('sends only the requested types, and advances the id past the others', async () => {
    const { service, client, clock, id } = await recorded(1);
    const reader = await open(client, '?types=otp.verified');
    await logEventsOf(service, [verified(id), delivered(id), verified(id), delivered(id)]);
    await eventually(() => reader.events.length === 2);
    expect(reader.events.map(({ data }) => [data.sequence, data.previous])).toEqual([
      [2, null],
      [4, 2],
    ]);
    await eventually(() => reader.text.includes(': heartbeat'), Boolean, { clock, stepMs: 1000 });
    expect(ids(reader)).toEqual([2, 4, 5]);
    const again = await open(client, '?types=otp.verified', { 'last-event-id': '5' });
    await logEventsOf(service, [verified(id)]);
    await eventually(() => again.events.length === 1);
    expect(again.events[0]?.data).toMatchObject({ sequence: 6, previous: 4 });
  });

  test('sends a comment after every 15 s without an event, and ends with a complete body', async () => {
    const { client, clock } = await recorded(1);
    const reader = await open(client);
    await eventually(() => reader.events.length === 1);
    const beats = () => reader.text.split(': heartbeat').length - 1;
    for (let second = 0; second < 14; second++) {
      clock.advance(1000);
      await client.call('events?after=1');
    }
    expect(beats()).toBe(0);
    await eventually(() => beats() === 3, Boolean, { clock, stepMs: 1000 });
    expect(reader.over).toBe(false);
    expect(reader.text).toContain(': heartbeat\nid: 1\n\n');
  });

  test('does not accept a key in the query', async () => {
    const { client } = await recorded(1);
    for (const name of ['x-api-key', 'api_key', 'key', 'access_token', 'authorization']) {
      expect((await fetch(`${client.url}/events/stream?${name}=${client.key}`)).status).toBe(401);
    }
  });

  test('ends within 5 s when its key is revoked', async () => {
    const { service, client, clock, id } = await recorded(1);
    const [reader, other] = [await open(client), await open(await service.client(0))];
    await eventually(() => reader.events.length === 1);
    await service.app.get(AccountService, { strict: false }).revokeKey(client.key.split('_')[1] ?? '');
    const began = clock.now();
    await eventually(() => reader.over, Boolean, { clock, stepMs: 100 });
    expect(clock.now() - began).toBeLessThanOrEqual(5000);
    expect([reader.ended, other.over]).toEqual([true, false]);
    expect(seats(service, id)).toBe(0);
  });

  test('ends if its key was revoked before the first page', async () => {
    const { service, client, clock, id } = await recorded(1);
    const log = service.app.get(EventLog, { strict: false });
    const { readStored: read } = log;
    jest.spyOn(log, 'readStored').mockImplementationOnce(async (query) => {
      await service.app.get(AccountService, { strict: false }).revokeKey(client.key.split('_')[1] ?? '');
      clock.advance(5000);
      return read.call(log, query);
    });
    const reader = await open(client);
    await eventually(() => reader.over, Boolean, { clock, stepMs: 100 });
    expect(seats(service, id)).toBe(0);
  });

  test('ends when its key expires', async () => {
    const { service, client, clock } = await recorded(1);
    const accounts = service.app.get(AccountService, { strict: false });
    const reader = await open(client);
    await accounts.rotateKey(client.key.split('_')[1] ?? '', { graceMs: 60_000 });
    await eventually(() => reader.over, Boolean, { clock, stepMs: 1000 });
    expect(clock.now() - Date.UTC(2026, 10, 21, 10)).toBeLessThanOrEqual(62_000);
  });

  test('ends when its token expires, but not while the verifier is unavailable', async () => {
    const tokens = { accountId: '', answers: async () => {} };
    class Tokens extends UserTokenVerifier {
      override async verify() {
        await tokens.answers();
        const user = { subject: 'awa', role: 'viewer' } as const;
        return tokens.accountId === '' ? undefined : { ...user, accountId: tokens.accountId };
      }
    }
    const { client, clock, id } = await recorded(1, { userTokens: Tokens });
    tokens.accountId = id;
    const url = `${client.url}/events/stream`;
    const reader = await EventReader.open(url, { authorization: `Bearer ${TOKEN}` });
    closing.push(() => reader.leave());
    await eventually(() => reader.events.length === 1);
    let asked = 0;
    tokens.answers = async () => {
      asked++;
      throw new Error('The provider is away.');
    };
    await eventually(() => asked === 3, Boolean, { clock, stepMs: 1000 });
    expect(reader.over).toBe(false);
    tokens.answers = async () => {};
    tokens.accountId = '';
    await eventually(() => reader.over, Boolean, { clock, stepMs: 1000 });
    expect(reader.ended).toBe(true);
  });

  test('reads no more than a slow client takes', async () => {
    const { service, client, id } = await recorded(0);
    await fill(service, id);
    const read = jest.spyOn(service.app.get(EventLog, { strict: false }), 'readStored');
    const reader = await open(client);
    reader.response.pause();
    let before = -1;
    await eventually(
      () => read.mock.calls.length,
      (now) => {
        const isStill = now > 0 && now === before;
        before = now;
        return isStill;
      },
    );
    // 4000 events are 40 pages and 20 MB. The sockets of both sides hold some of them.
    expect(read.mock.calls.length).toBeLessThan(30);
    reader.response.resume();
    await eventually(() => reader.events.length === 4000);
    expect(read.mock.calls.length).toBeGreaterThanOrEqual(40);
    expect(sequences(reader)).toEqual(Array.from({ length: 4000 }, (_, at) => at + 1));
  });

  test('disconnects a slow client whose key is revoked', async () => {
    const { service, client, clock, id } = await recorded(1);
    const reader = await open(client);
    await eventually(() => reader.events.length === 1);
    reader.response.pause();
    await fill(service, id);
    await service.app.get(AccountService, { strict: false }).revokeKey(client.key.split('_')[1] ?? '');
    await eventually(() => seats(service, id) === 0, Boolean, { clock, stepMs: 500 });
    reader.response.resume();
    await eventually(() => reader.over, Boolean, { clock, stepMs: 500 });
  });

  test('continues when the storage is back', async () => {
    const { service, client, clock, id } = await recorded(1);
    const reader = await open(client);
    await eventually(() => reader.events.length === 1);
    const log = service.app.get(EventLog, { strict: false });
    const read = jest.spyOn(log, 'readStored').mockRejectedValue(new StorageUnavailableError('It is away.'));
    await eventually(() => read.mock.calls.length >= 3, Boolean, { clock, stepMs: 500 });
    read.mockRestore();
    await logEventsOf(service, [delivered(id)]);
    await eventually(() => reader.events.length === 2, Boolean, { clock, stepMs: 500 });
    expect(sequences(reader)).toEqual([1, 2]);
  });

  test('ends if events were removed before the client has read them', async () => {
    const { service, client, clock, id } = await recorded(3);
    const reader = await open(client, '?after=3');
    await eventually(() => seats(service, id) === 1);
    const log = service.app.get(EventLog, { strict: false });
    await log.switchOffUnused(clock.now() + 1, 10);
    await log.switchOn(id, clock.now());
    await eventually(() => reader.over, Boolean, { clock, stepMs: 500 });
    expect(reader.ended).toBe(true);
    const again = await open(client, '', { 'last-event-id': '3' });
    expect([again.status, again.response.headers['x-earliest-sequence']]).toEqual([410, '5']);
  });

  test('shares ten places with the polling requests, and gives them back', async () => {
    const { service, client, id } = await recorded(1);
    const readers = [];
    for (let each = 0; each < 10; each++) readers.push(await open(client));
    const refused = await open(client);
    expect([refused.status, refused.response.headers['x-error-code']]).toEqual([429, 'too_many_event_readers']);
    expect((await client.call('events?after=1&wait=1')).status).toBe(429);
    readers[0]?.leave();
    await eventually(() => seats(service, id) === 9);
    expect((await open(client)).status).toBe(200);
    expect((await open(client, '?after=x')).status).toBe(400);
    expect(seats(service, id)).toBe(10);
  });

  test('gives back the place of a client that left before the first page', async () => {
    const { service, client, id } = await recorded(1);
    const log = service.app.get(EventLog, { strict: false });
    const { readStored: read } = log;
    const left = new Promise<void>((resolve) => {
      service.app.getHttpServer().once('request', (_: IncomingMessage, response: ServerResponse) => {
        response.once('close', resolve);
      });
    });
    jest.spyOn(log, 'readStored').mockImplementationOnce(async (query) => {
      await left;
      return read.call(log, query);
    });
    const leaving = get(`${client.url}/events/stream`, { headers: { 'x-api-key': client.key } }).on('error', () => {});
    await eventually(() => seats(service, id) === 1);
    leaving.destroy();
    await eventually(() => seats(service, id) === 0);
  });

  test('takes no place for HEAD', async () => {
    const { service, client, id } = await recorded(1);
    const head = await client.call('events/stream', { method: 'HEAD' });
    expect(head.status).toBe(200);
    await eventually(() => seats(service, id) === 0);
  });

  test('does not delay the end of the application', async () => {
    const { service, client } = await recorded(1);
    service.app.getHttpServer().keepAliveTimeout = 0;
    const reader = await open(client);
    await eventually(() => reader.events.length === 1);
    await service.app.close();
    await reader.end();
    expect(reader.over).toBe(true);
  });
});
