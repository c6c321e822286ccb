import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MessagingApiError } from '../../../src/client/api-error.js';
import type { ClientOptions } from '../../../src/client/caller.js';
import { ManagementClient } from '../../../src/client/manage/management-client.js';
import { MessagingClient } from '../../../src/client/messaging-client.js';
import { broken, lost, ok, refused, ScriptedFetch } from '../../support/client/scripted-fetch.js';

const BASE = 'https://api.example.com/api/v1';
const ORDER = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const CODE = { otp: '1234', number: '22670000000', service: 'Boutique' };

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

function clientOn(script: ScriptedFetch, options: Partial<ClientOptions> = {}): MessagingClient {
  return new MessagingClient({ baseUrl: BASE, apiKey: 'msgk_key', fetch: script.fetch, ...options });
}

/** What a call returns or throws after all pauses. */
async function end<T>(call: Promise<T>): Promise<T | MessagingApiError> {
  const caught = call.catch((error: unknown) => {
    if (error instanceof MessagingApiError) return error;
    throw error;
  });
  await jest.runAllTimersAsync();
  return caught;
}

describe('a call', () => {
  test('sends the key, the body and the accepted type, and returns the answer', async () => {
    const script = new ScriptedFetch(ok({ smsID: 'one' }));
    expect(await end(clientOn(script).sms.send(ORDER))).toEqual({ smsID: 'one' });
    const [asked] = script.asked;
    expect(asked?.url.href).toBe(`${BASE}/send/sms`);
    expect(asked?.init).toMatchObject({ method: 'POST', redirect: 'manual' });
    expect(asked?.body).toEqual(ORDER);
    expect(Object.fromEntries(asked?.headers ?? [])).toEqual({
      accept: 'application/json',
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
      'x-api-key': 'msgk_key',
    });
  });

  test('accepts a base URL that ends with a slash', async () => {
    const script = new ScriptedFetch(ok({}));
    await end(clientOn(script, { baseUrl: `${BASE}//` }).balance());
    expect(script.asked[0]?.url.href).toBe(`${BASE}/balance`);
  });

  test.each<[string, () => Response | Error]>([
    ['a lost connection', lost],
    ['an answer that breaks off', broken],
    ['429', refused(429, 'too_many_in_flight')],
    ['502 of a proxy', () => new Response('<html>', { status: 502 })],
    ['503', refused(503, 'storage_unavailable', { 'retry-after': '1' })],
    ['504', refused(504, 'timeout')],
    ['a first attempt that is still under way', refused(409, 'idempotency_running', { 'retry-after': '1' })],
  ])('is repeated after %s, under the same Idempotency-Key', async (_, failure) => {
    const script = new ScriptedFetch(failure, failure, ok({ smsID: 'one' }));
    expect(await end(clientOn(script).sms.send(ORDER))).toEqual({ smsID: 'one' });
    const [first, ...others] = script.headers('idempotency-key');
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(others).toEqual([first, first]);
  });

  test('has an Idempotency-Key of its own, or the one that is given', async () => {
    const script = new ScriptedFetch(ok({}));
    const client = clientOn(script);
    for (const idempotencyKey of [undefined, undefined, 'order-4711']) {
      await end(client.otp.send({ service: 'Boutique', number: '22670000000' }, { idempotencyKey }));
    }
    const [first, second, third] = script.headers('idempotency-key');
    expect(first).not.toBe(second);
    expect(third).toBe('order-4711');
  });

  test.each([
    [400, 'insufficient_balance'],
    [401, 'unauthorized'],
    [409, 'no_session'],
    [422, 'idempotency_mismatch'],
    [500, 'internal'],
  ])('is not repeated after %i %s; the error is thrown with its details', async (status, code) => {
    const script = new ScriptedFetch(refused(status, code));
    const error = await end(clientOn(script).sms.send(ORDER, { idempotencyKey: 'mine' }));
    expect(error).toBeInstanceOf(MessagingApiError);
    expect(error).toMatchObject({ status, code, message: `refused: ${code}`, idempotencyKey: 'mine' });
    expect(script.asked).toHaveLength(1);
  });

  test('is repeated while the number reconnects, but not before the time that the service gives', async () => {
    const reconnecting = refused(409, 'number_reconnecting', { 'retry-after': '5' });
    const script = new ScriptedFetch(reconnecting, reconnecting, ok({ success: true, messageID: 'one' }));
    const started = performance.now();
    const sent = clientOn(script).msgapp().sendText({ to: '22670000000', body: 'Bonjour' });
    expect(await end(sent)).toEqual({ success: true, messageID: 'one' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(10_000);
    expect(new Set(script.headers('idempotency-key')).size).toBe(1);
  });

  test('is attempted five times at most', async () => {
    const script = new ScriptedFetch(lost);
    expect(await end(clientOn(script).balance())).toMatchObject({ status: 0, code: 'network_error', cause: lost() });
    expect(script.asked).toHaveLength(5);
    const once = new ScriptedFetch(lost);
    await end(clientOn(once, { retries: 0 }).balance());
    expect(once.asked).toHaveLength(1);
  });

  test('that must not happen twice is repeated only if the service did not begin it', async () => {
    const failing = new ScriptedFetch(lost, ok({ success: true }));
    expect(await end(clientOn(failing).otp.verify(CODE))).toMatchObject({ code: 'network_error' });
    const unavailable = new ScriptedFetch(refused(503, 'storage_unavailable'), ok({ success: true }));
    expect(await end(clientOn(unavailable).otp.verify(CODE))).toMatchObject({ status: 503 });
    const busy = new ScriptedFetch(refused(429, 'too_many_in_flight'), ok({ success: true }));
    expect(await end(clientOn(busy).otp.verify(CODE))).toEqual({ success: true });
  });

  test('does not follow a redirect, which would take the key elsewhere', async () => {
    const script = new ScriptedFetch(
      () => new Response(null, { status: 307, headers: { location: 'https://other.example' } }),
    );
    expect(await end(clientOn(script).balance())).toMatchObject({ status: 307, code: 'unknown' });
    expect(script.asked).toHaveLength(1);
  });

  test.each(['', '.', '..'])('is refused if its id is "%s", which would name another route', async (id) => {
    const script = new ScriptedFetch(ok({}));
    await expect(clientOn(script).sms.get(id)).rejects.toThrow(TypeError);
    expect(script.asked).toEqual([]);
  });

  test('encodes ids', async () => {
    const script = new ScriptedFetch(ok({}));
    await end(clientOn(script).sms.get('../balance?a#b'));
    expect(script.asked[0]?.url.href).toBe(`${BASE}/sms/..%2Fbalance%3Fa%23b`);
  });
});

describe('the time limit of a call', () => {
  const script429 = (retryAfter: string) =>
    new ScriptedFetch(refused(429, 'too_many_in_flight', { 'retry-after': retryAfter }), ok({ balance: 1 }));

  test.each([
    ['seconds', '20'],
    ['a date', new Date(20_000).toUTCString()],
  ])('waits for a Retry-After in %s before the next attempt', async (_, retryAfter) => {
    jest.setSystemTime(0);
    const script = script429(retryAfter);
    const call = clientOn(script).balance();
    await jest.advanceTimersByTimeAsync(20_000);
    expect(script.asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(script.asked).toHaveLength(2);
    expect(await end(call)).toEqual({ balance: 1 });
  });

  test('throws at once if Retry-After lies behind the end of the call', async () => {
    const script = script429('3600');
    await expect(clientOn(script).balance()).rejects.toMatchObject({ status: 429, retryAfter: 3600 });
  });

  test('throws at once if Retry-After is longer than maxPauseMs, so that nobody waits for it', async () => {
    const script = script429('20');
    const client = clientOn(script, { maxPauseMs: 3_000 });
    await expect(client.balance()).rejects.toMatchObject({ status: 429, retryAfter: 20 });
    expect(script.asked).toHaveLength(1);
    expect(await end(clientOn(script429('1'), { maxPauseMs: 3_000 }).balance())).toEqual({ balance: 1 });
  });

  test('lets pauses grow, and differ between clients', async () => {
    const pausesOf = async (random: number) => {
      const drawn = jest.spyOn(Math, 'random').mockReturnValue(random);
      const times: number[] = [];
      const script = new ScriptedFetch(() => {
        times.push(performance.now());
        return lost();
      });
      await end(clientOn(script).balance());
      drawn.mockRestore();
      return times.slice(1).map((time, index) => time - (times[index] ?? 0));
    };
    expect(await pausesOf(0)).toEqual([125, 250, 500, 1000]);
    expect(await pausesOf(1)).toEqual([250, 500, 1000, 2000]);
  });

  test('ends an attempt without an answer after 35 s, and all attempts at the time limit of the call', async () => {
    const script = new ScriptedFetch(() => 'nothing');
    const call = clientOn(script, { timeoutMs: 50_000 }).sms.send(ORDER, { idempotencyKey: 'mine' });
    const ended = call.catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(36_000);
    expect(script.asked).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(14_000);
    expect(await ended).toMatchObject({ status: 0, code: 'timeout', idempotencyKey: 'mine' });
    expect(script.asked).toHaveLength(2);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('gives an attempt with a large body the time that a slow connection needs', async () => {
    const script = new ScriptedFetch(() => 'nothing');
    const number = Array.from({ length: 100_000 }, (_, index) => String(22670000000 + index));
    const call = end(clientOn(script, { timeoutMs: 200_000 }).sms.send({ ...ORDER, number }));
    await jest.advanceTimersByTimeAsync(199_000);
    expect(script.asked).toHaveLength(1);
    expect(await call).toMatchObject({ code: 'timeout' });
  });

  test('a removal succeeds even if its first answer was lost', async () => {
    const gone = refused(404, 'endpoint_not_found');
    expect(await end(clientOn(new ScriptedFetch(lost, gone)).webhooks.remove('one'))).toEqual({ success: true });
    expect(await end(clientOn(new ScriptedFetch(gone)).webhooks.remove('one'))).toMatchObject({ status: 404 });
  });

  test('lets a large answer use all the time of the call', async () => {
    const script = new ScriptedFetch(() => 'nothing');
    const call = end(clientOn(script, { timeoutMs: 600_000 }).msgapp().receivedMedia('one'));
    await jest.advanceTimersByTimeAsync(599_000);
    expect(script.asked).toHaveLength(1);
    expect(await call).toMatchObject({ code: 'timeout' });
  });

  test('holds even if fetch ignores its signal', async () => {
    const deaf = () => new Promise<Response>(() => {});
    const call = new MessagingClient({ baseUrl: BASE, apiKey: 'k', fetch: deaf }).balance({ timeoutMs: 1_000 });
    expect(await end(call)).toMatchObject({ code: 'timeout' });
  });

  test.each(['before it', 'while it waits for an answer', 'in a pause'])(
    'can be cut short by the caller’s signal %s',
    async (when) => {
      const script = new ScriptedFetch(() => (when === 'in a pause' ? lost() : 'nothing'));
      const controller = new AbortController();
      const reason = new Error('the user has left');
      if (when === 'before it') controller.abort(reason);
      const ended = clientOn(script)
        .balance({ signal: controller.signal })
        .catch((error: unknown) => error);
      await jest.advanceTimersByTimeAsync(1);
      controller.abort(reason);
      expect(await ended).toBe(reason);
      expect(script.asked).toHaveLength(when === 'before it' ? 0 : 1);
      expect(jest.getTimerCount()).toBe(0);
    },
  );
});

describe('credentials', () => {
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'document');
    Reflect.deleteProperty(globalThis, 'importScripts');
  });

  test.each(['document', 'importScripts'])('refuses an apiKey if there is a global %s, but accepts a token', (name) => {
    Reflect.set(globalThis, name, {});
    expect(() => new MessagingClient({ baseUrl: BASE, apiKey: 'k' })).toThrow('An apiKey in a browser is public.');
    expect(() => new MessagingClient({ baseUrl: BASE, token: async () => 'jwt' })).not.toThrow();
  });

  test('refuses both an apiKey and a token, and neither of them if one is needed', async () => {
    expect(() => new MessagingClient({ baseUrl: BASE, apiKey: 'k', token: async () => 't' })).toThrow(TypeError);
    const script = new ScriptedFetch(ok({}));
    const client = new MessagingClient({ baseUrl: BASE, fetch: script.fetch });
    await expect(client.balance()).rejects.toThrow(TypeError);
    expect(script.asked).toEqual([]);
    await end(client.msgapp().codeImage('token'));
    expect(script.asked).toHaveLength(1);
  });

  test('asks for a token before each attempt', async () => {
    let count = 0;
    const script = new ScriptedFetch(lost, ok({ balance: 1 }));
    await end(clientOn(script, { apiKey: undefined, token: async () => `jwt-${++count}` }).balance());
    expect(script.headers('authorization')).toEqual(['Bearer jwt-1', 'Bearer jwt-2']);
    expect(script.headers('x-api-key')).toEqual([null, null]);
  });

  test('throws the error of the token function unchanged', async () => {
    const signedOut = new Error('signed out');
    const script = new ScriptedFetch(ok({}));
    const client = clientOn(script, { apiKey: undefined, token: () => Promise.reject(signedOut) });
    await expect(client.balance()).rejects.toBe(signedOut);
  });

  test('does not let a token that never comes hold a call', async () => {
    const token = () => new Promise<string>(() => {});
    const script = new ScriptedFetch(ok({}));
    const call = clientOn(script, { apiKey: undefined, token }).balance({ timeoutMs: 1_000 });
    expect(await end(call)).toMatchObject({ code: 'timeout' });
    expect(script.asked).toEqual([]);
  });

  test('renews a refused token once, and repeats the request with the new one', async () => {
    const askedFor: (string | undefined)[] = [];
    const token = async (refusedToken?: string) => {
      askedFor.push(refusedToken);
      return refusedToken === undefined ? 'old' : 'new';
    };
    const script = new ScriptedFetch(refused(401, 'unauthorized'), ok({ smsID: 'one' }));
    const client = clientOn(script, { apiKey: undefined, token, retries: 0 });
    expect(await end(client.sms.send(ORDER))).toEqual({ smsID: 'one' });
    expect(askedFor).toEqual([undefined, 'old']);
    expect(script.headers('authorization')).toEqual(['Bearer old', 'Bearer new']);
    const [first, second] = script.headers('idempotency-key');
    expect(second).toBe(first);
  });

  test('throws 401 if the token is refused twice or cannot be renewed', async () => {
    const twice = new ScriptedFetch(refused(401, 'unauthorized'));
    const renewing = clientOn(twice, { apiKey: undefined, token: async (old) => (old === undefined ? 'a' : 'b') });
    expect(await end(renewing.balance())).toMatchObject({ status: 401, code: 'unauthorized' });
    expect(twice.asked).toHaveLength(2);
    const once = new ScriptedFetch(refused(401, 'unauthorized'));
    expect(await end(clientOn(once, { apiKey: undefined, token: async () => 'same' }).balance())).toMatchObject({
      status: 401,
      message: 'refused: unauthorized',
    });
    expect(once.asked).toHaveLength(1);
  });

  test('can send the token in X-User-Token, which leaves Authorization to the browser', async () => {
    const script = new ScriptedFetch(ok({ balance: 1 }));
    const options = { apiKey: undefined, token: async () => 'jwt', tokenHeader: 'x-user-token' } as const;
    await end(clientOn(script, options).balance());
    expect(script.headers('x-user-token')).toEqual(['jwt']);
    expect(script.headers('authorization')).toEqual([null]);
  });

  test('sends the token with a sign-out if there is one, because a page in a frame has no cookie', async () => {
    const script = new ScriptedFetch(ok({ success: true }));
    const options = { baseUrl: BASE, fetch: script.fetch };
    await end(new ManagementClient(options).session.end());
    await end(new ManagementClient({ ...options, token: async () => 'jwt' }).session.end());
    expect(script.headers('authorization')).toEqual([null, 'Bearer jwt']);
  });

  test('asks for the codes to scan without credentials', async () => {
    const script = new ScriptedFetch(() => new Response('PNG'));
    await end(clientOn(script).msgapp('support').codeImage('token'));
    expect(script.asked[0]?.url.href).toBe(`${BASE}/support/web/qr/token/image`);
    expect(script.headers('x-api-key')).toEqual([null]);
  });
});

test('the ledger and the usage are read as CSV files', async () => {
  const script = new ScriptedFetch(() => new Response('id,units\r\n'));
  const { account } = new ManagementClient({ baseUrl: BASE, token: async () => 'jwt', fetch: script.fetch });
  const files = [account.ledgerCsv({ kind: 'charge' }), account.usageCsv({ group_by: ['day'] })].map(end);
  const texts = (await Promise.all(files)).map((file) => (file instanceof Blob ? file.text() : file));
  expect(await Promise.all(texts)).toEqual(['id,units\r\n', 'id,units\r\n']);
  expect(script.asked.map(({ url }) => url.href)).toEqual([`${BASE}/ledger?kind=charge`, `${BASE}/usage?group_by=day`]);
  expect(script.headers('accept')).toEqual(['text/csv', 'text/csv']);
});

describe('a list', () => {
  const pages = () =>
    new ScriptedFetch(
      ok({ items: [{ smsID: 'a' }, { smsID: 'b' }], next_cursor: 'two' }),
      // A page may be empty although more pages follow.
      ok({ items: [], next_cursor: 'three' }),
      ok({ items: [{ smsID: 'c' }], next_cursor: null }),
    );

  test('is read page by page', async () => {
    const script = pages();
    const seen: string[] = [];
    const query = { status: 'failed', limit: 2, metadata: { order: '47&11' }, since: undefined } as const;
    for await (const { smsID } of clientOn(script).sms.list(query)) seen.push(smsID);
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(script.asked.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual(
      [{}, { cursor: 'two' }, { cursor: 'three' }].map((cursor) => ({
        status: 'failed',
        limit: '2',
        'metadata.order': '47&11',
        ...cursor,
      })),
    );
  });

  test('stops asking when its reader leaves, and starts anew for the next reader', async () => {
    const script = pages();
    const list = clientOn(script).sms.list();
    for await (const _ of list) break;
    expect(script.asked).toHaveLength(1);
    expect(await list.page('three')).toEqual({ items: [], next_cursor: 'three' });
    expect(script.asked[1]?.url.search).toBe('?cursor=three');
  });
});
