import { createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { SubmitResult } from '../../../../src/sms/sms-transport.js';
import { generic } from '../../../../src/transports/http/vendors/generic.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { SetBackClock } from '../../../support/common/set-back-clock.js';
import { settled } from '../../../support/common/settled.js';
import { until } from '../../../support/common/until.js';
import {
  anSms,
  DOUBLES,
  type FixtureOptions,
  GatewayFixture,
} from '../../../support/transports/gateway/gateway-fixture.js';
import { genericDouble } from '../../../support/transports/gateway/generic-double.js';
import { orangeDouble } from '../../../support/transports/gateway/orange-double.js';
import { GATEWAY_TEST_CERTIFICATE, GATEWAY_TEST_KEY } from '../../../support/transports/gateway/tls-fixture.js';
import { twilioDouble } from '../../../support/transports/gateway/twilio-double.js';
import type { VendorDouble } from '../../../support/transports/gateway/vendor-double.js';
import { vonageDouble } from '../../../support/transports/gateway/vonage-double.js';

const opened = closeAfterEach();
const open = async (double: VendorDouble = genericDouble, options: FixtureOptions = {}) =>
  opened(await GatewayFixture.open(double, options));

const logged: string[] = [];
const write = (...parts: unknown[]) => void logged.push(parts.map((part) => inspect(part)).join(' '));

beforeEach(() => {
  logged.length = 0;
  Logger.overrideLogger({ log: write, warn: write, error: write, debug: write, verbose: write, fatal: write });
});
afterEach(() => Logger.overrideLogger(false));

const many = (count: number) => Array.from({ length: count }, (_, position) => anSms({ position }));
const kinds = (results: readonly SubmitResult[]) => results.map(({ kind }) => kind);

describe('connections', () => {
  test('are kept and reused', async () => {
    const fixture = await open();
    for (const sms of many(20)) await fixture.submit(sms);
    expect(fixture.asked).toBe(20);
    // undici opens a second connection if the first has not quite settled.
    expect(fixture.server.connections).toBeLessThanOrEqual(2);
  });

  test('are never more than the requests that may run at a time, over all batches', async () => {
    const fixture = await open(genericDouble, { concurrency: 4 });
    fixture.server.next(...Array<'held'>(12).fill('held'));
    const batches = [fixture.submit(...many(6)), fixture.submit(...many(6))];
    await fixture.server.arrived(3);
    await settled(50);
    expect(fixture.asked).toBe(3);
    const done = Promise.all(batches);
    while ((await Promise.race([done, settled(5)])) === undefined) fixture.server.release();
    expect((await done).map(kinds)).toEqual(Array(2).fill(Array(6).fill('sent')));
    expect(fixture.asked).toBe(12);
    expect(fixture.server.connections).toBeLessThanOrEqual(4);
  });

  test('that take long do not hold back the results of the others', async () => {
    const fixture = await open();
    fixture.server.next('held');
    const results = fixture.submit(...many(3));
    await until(() => fixture.reported.length === 2);
    expect(fixture.reported.toSorted()).toEqual(['1 sent', '2 sent']);
    fixture.server.release();
    expect(kinds(await results)).toEqual(['sent', 'sent', 'sent']);
    expect(fixture.reported[2]).toBe('0 sent');
  });

  test('are encrypted to a known peer, or nothing is sent at all', async () => {
    const tlsServer = { key: GATEWAY_TEST_KEY, cert: GATEWAY_TEST_CERTIFICATE };
    const stranger = await open(genericDouble, { tlsServer });
    expect(await stranger.submit()).toEqual([{ kind: 'retry', error: 'depth_zero_self_signed_cert' }]);
    expect(stranger.server.requests).toEqual([]);
    const known = await open(genericDouble, { tlsServer, tls: { ca: GATEWAY_TEST_CERTIFICATE } });
    expect(kinds(await known.submit())).toEqual(['sent']);
  });

  test('that are never established have sent nothing', async () => {
    // This server accepts, and never begins TLS.
    const mute = createServer(() => undefined);
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const address = mute.address();
    const url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const fixture = await open({ ...genericDouble, vendor: () => genericDouble.vendor(url) }, { requestMs: 60_000 });
    const connected = new Promise<Socket>((resolve) => mute.once('connection', resolve));
    const result = fixture.submit();
    const socket = await connected;
    fixture.clock.advance(60_000);
    expect(await result).toEqual([{ kind: 'retry', error: 'connect_timeout' }]);
    socket.destroy();
    mute.close();
  });
});

test('a slow route gives back the SMS for which it has no time as not tried', async () => {
  const fixture = await open(genericDouble, { concurrency: 1, waitMs: 5000 });
  fixture.server.next('held');
  const results = fixture.submit(...many(3));
  await fixture.server.arrived(1);
  fixture.clock.advance(5000);
  await settled();
  fixture.server.release();
  const untried = { kind: 'postponed', error: 'busy', until: fixture.clock.now() + 1000 };
  expect((await results).slice(1)).toEqual([untried, untried]);
  expect([kinds(await results)[0], fixture.asked]).toEqual(['sent', 1]);
});

test.each([1, 3_600_000])('an SMS waits no longer than it may, even if the clock was set back %i ms', async (ms) => {
  const clock = new SetBackClock();
  const fixture = await open(genericDouble, { concurrency: 1, waitMs: 5000, clock });
  fixture.server.next('held');
  const results = fixture.submit(...many(2));
  await fixture.server.arrived(1);
  clock.setBack(ms);
  clock.advance(5000);
  await settled();
  fixture.server.release();
  expect(kinds(await results)).toEqual(['sent', 'postponed']);
  expect(fixture.asked).toBe(1);
});

describe('a route that is told to rest', () => {
  test('costs one SMS an attempt, not all of them', async () => {
    const fixture = await open(genericDouble, { concurrency: 1 });
    const { answer } = genericDouble.refusals.throttled;
    fixture.server.next(answer, answer);
    const results = fixture.submit(...many(50));
    await fixture.server.arrived(1);
    for (let second = 0; second < 20; second++) {
      await settled(20);
      fixture.clock.advance(1000);
    }
    const all = kinds(await results);
    expect(all.filter((kind) => kind === 'retry')).toHaveLength(2);
    expect(all.filter((kind) => kind === 'sent')).toHaveLength(48);
  });

  test.each([
    ['0', [1000, 2000, 4000]],
    ['Sat, 21 Nov 2026 09:00:00 GMT', [1000, 2000, 4000]],
    ['2', [2000, 2000, 4000]],
  ])('rests for its usual time if the gateway asks for less (Retry-After: %s)', async (retryAfter, rests) => {
    const fixture = await open(genericDouble, { concurrency: 17 });
    const refusal = { status: 429, headers: { 'retry-after': retryAfter }, body: '' };
    fixture.server.next(...Array<typeof refusal>(200).fill(refusal));
    const over: SubmitResult[] = [];
    const results = many(200).map((sms) => fixture.submit(sms).then((result) => over.push(...result)));
    await until(() => over.length >= 16);
    await settled();
    expect(fixture.asked).toBe(16);
    for (const [before, restMs] of rests.entries()) {
      fixture.clock.advance(restMs - 1);
      await settled();
      expect(fixture.asked).toBe(16 + before);
      fixture.clock.advance(1);
      await until(() => over.length > 16 + before);
    }
    fixture.stopping.abort();
    await Promise.all(results);
    expect(kinds(over)).toEqual([...Array(19).fill('retry'), ...Array(181).fill('postponed')]);
  });

  test('gives back an SMS that has waited long enough, before its lease runs out', async () => {
    const fixture = await open(genericDouble, { waitMs: 5000 });
    fixture.server.next(genericDouble.refusals.throttled.answer);
    await fixture.submit();
    const results = fixture.submit(...many(3));
    fixture.clock.advance(5000);
    expect(await results).toEqual(Array(3).fill({ kind: 'retry', error: 'slow_down' }));
    expect(fixture.asked).toBe(1);
    const { leaseMs = 0 } = fixture.transport.timing;
    expect(leaseMs).toBeGreaterThan(5000 + 4 * 10_000);
  });

  test('with wrong credentials logs one error, and fails no SMS', async () => {
    const fixture = await open(twilioDouble, { stranger: true });
    for (let each = 0; each < 5; each++) {
      expect(await fixture.submit()).toEqual([{ kind: 'retry', error: '20003' }]);
      fixture.clock.advance(60_000);
    }
    expect(logged.filter((line) => line.includes('check its credentials'))).toHaveLength(1);
    expect(fixture.transport.timing.maxAttempts).toBe(20);
  });
});

describe('an SMS', () => {
  test('that is no longer of use is not sent', async () => {
    const fixture = await open();
    const now = fixture.clock.now();
    expect(await fixture.submit(anSms({ expiresAt: now }))).toEqual([
      { kind: 'refused', error: 'expired', unasked: true },
    ]);
    expect(fixture.asked).toBe(0);
  });

  test('whose window has closed meanwhile is not sent, and counts no attempt', async () => {
    const fixture = await open();
    const now = fixture.clock.now();
    expect(await fixture.submit(anSms({ closesAt: now }))).toEqual([
      { kind: 'postponed', error: 'window_closed', until: now },
    ]);
    expect(fixture.asked).toBe(0);
  });

  test('tells vendors that support it for how long it is of use', async () => {
    const bodies = async (double: VendorDouble, ms: number) => {
      const fixture = await open(double);
      await fixture.submit(anSms({ expiresAt: fixture.clock.now() + ms }));
      return fixture.server.requests.at(-1)?.body;
    };
    expect(await bodies(twilioDouble, 299_500)).toContain('&ValidityPeriod=299');
    expect(await bodies(twilioDouble, 999_000_000)).toContain('&ValidityPeriod=36000');
    expect(await bodies(vonageDouble, 300_000)).toContain('&ttl=300000');
    expect(await bodies(vonageDouble, 900)).toContain('&ttl=20000');
    expect(await bodies(vonageDouble, 999_000_000)).toContain('&ttl=604800000');
    const [infobip] = DOUBLES.filter(({ name }) => name === 'infobip');
    expect(infobip && (await bodies(infobip, 120_000))).toContain(
      '"validityPeriod":{"amount":120,"timeUnit":"SECONDS"}',
    );
  });

  test('from a number goes out with that number as its sender', async () => {
    const fixture = await open(twilioDouble);
    await fixture.submit(anSms({ signature: '22670999999' }), anSms({ signature: '33000' }));
    expect(fixture.taken.map(({ from }) => from)).toEqual(['+22670999999', '33000']);
  });

  test('of which the gateway took only some parts is in doubt', async () => {
    const fixture = await open(vonageDouble);
    const messages = [{ status: '0', 'message-id': 'a' }, { status: '1' }];
    fixture.server.next({ status: 200, body: JSON.stringify({ messages }) });
    expect(await fixture.submit()).toEqual([{ kind: 'unknown', error: 'partial_1', carrierIds: ['a', ''] }]);
  });
});

describe('a shutdown', () => {
  test('finishes the requests on the wire and gives back the rest', async () => {
    const fixture = await open(genericDouble, { concurrency: 3 });
    fixture.server.next('held', 'held');
    const results = fixture.submit(...many(5));
    await fixture.server.arrived(2);
    fixture.stopping.abort();
    await settled();
    fixture.server.release();
    expect(kinds(await results)).toEqual(['sent', 'sent', 'postponed', 'postponed', 'postponed']);
    expect((await results)[2]).toEqual({ kind: 'postponed', error: 'stopping', until: fixture.clock.now() + 1000 });
  });

  test('waits for pending requests, and later SMS are given back', async () => {
    const fixture = await open();
    fixture.server.next('held');
    const result = fixture.submit();
    await fixture.server.arrived(1);
    let stopped = false;
    const stop = fixture.transport.stop().then(() => {
      stopped = true;
    });
    await settled();
    expect(stopped).toBe(false);
    expect(await fixture.submit()).toEqual([{ kind: 'retry', error: 'not_started' }]);
    fixture.server.release();
    await stop;
    expect(kinds(await result)).toEqual(['sent']);
  });
});

describe('a description of the host', () => {
  const described = (over: object, options: FixtureOptions = {}) =>
    open({ ...genericDouble, vendor: (baseUrl) => ({ ...genericDouble.vendor(baseUrl), ...over }) }, options);

  test('that throws costs nothing but that attempt', async () => {
    const fixture = await described({
      request: () => {
        throw new Error('bug');
      },
    });
    expect(await fixture.submit()).toEqual([{ kind: 'retry', error: 'no_request' }]);
    const other = await described({
      read: () => {
        throw new Error('bug');
      },
    });
    expect(await other.submit()).toEqual([{ kind: 'unknown', error: 'malformed_answer' }]);
  });

  test('whose headers are malformed sends nothing', async () => {
    const fixture = await described({ request: () => ({ path: '/x', headers: { 'x-a': 'a\r\nb: c' } }) });
    const [result] = await fixture.submit();
    expect([result?.kind, fixture.asked]).toEqual(['retry', 0]);
  });

  test('with an idempotency key may be repeated, with the same key each time', async () => {
    const keys: string[] = [];
    const fixture = await described({
      idempotent: true,
      request: (_: unknown, { reference }: { reference: string }) => {
        keys.push(reference);
        return { path: '/v1/messages?answer=json' };
      },
    });
    expect(fixture.transport.repeat).toBe('idempotent');
    fixture.server.next('silent', { status: 200, body: '{"id":"a"}' });
    const first = fixture.submit(anSms({ attempt: 1 }));
    await fixture.server.arrived(1);
    fixture.clock.advance(10_000);
    expect(kinds(await first)).toEqual(['unknown']);
    expect(kinds(await fixture.submit(anSms({ attempt: 2 })))).toEqual(['sent']);
    expect(keys).toEqual(['sms-1.0', 'sms-1.0']);
  });

  test('may ask by GET below a path of the base URL', async () => {
    const fixture = opened(
      await GatewayFixture.open({
        ...genericDouble,
        vendor: (baseUrl) =>
          generic({
            name: 'old',
            baseUrl: `${baseUrl}/gateway/`,
            request: ({ number }) => ({ method: 'GET', path: `/send?to=${number}` }),
            read: ({ text }) => ({ ids: [text ?? ''] }),
          }),
      }),
    );
    fixture.server.next({ status: 200, body: 'id-1' });
    expect(await fixture.submit()).toEqual([{ kind: 'sent', carrierIds: ['id-1'] }]);
    expect(fixture.server.requests).toMatchObject([{ method: 'GET', path: '/gateway/send?to=22670000001', body: '' }]);
  });

  test('with ids that cannot be stored counts as without ids', async () => {
    const fixture = await described({ read: () => ({ ids: ['a b', 'x'.repeat(1001), ''] }) });
    expect(await fixture.submit()).toEqual([{ kind: 'unknown', error: 'malformed_answer' }]);
  });

  test('is at-most-once without a key, unless the host sets another policy', async () => {
    expect((await open()).transport.repeat).toBe('at-most-once');
    expect((await open(genericDouble, { repeat: 'at-least-once' })).transport.repeat).toBe('at-least-once');
  });
});

describe('a bearer token', () => {
  const tokens = (fixture: GatewayFixture) =>
    fixture.server.requests.filter(({ path }) => path === '/oauth/v3/token').length;

  test('is fetched once for all concurrent requests, and used until it expires', async () => {
    const fixture = await open(orangeDouble);
    expect(new Set(kinds(await fixture.submit(...many(30))))).toEqual(new Set(['sent']));
    expect(tokens(fixture)).toBe(1);
    fixture.clock.advance(3_539_000);
    await fixture.submit();
    expect(tokens(fixture)).toBe(1);
    fixture.clock.advance(1000);
    expect(kinds(await fixture.submit(...many(30)))).toEqual(Array(30).fill('sent'));
    expect(tokens(fixture)).toBe(2);
  });

  test('that is revoked early is replaced, and the SMS still goes out', async () => {
    const fixture = await open(orangeDouble);
    await fixture.submit();
    fixture.server.next(orangeDouble.unauthorized);
    expect(kinds(await fixture.submit())).toEqual(['sent']);
    expect([tokens(fixture), fixture.asked]).toEqual([2, 3]);
  });

  test('that is new is not dropped because of a late 401 for the previous one', async () => {
    const fixture = await open(orangeDouble);
    fixture.station.fateOf = () => {
      fixture.station.fateOf = () => undefined;
      return orangeDouble.unauthorized;
    };
    fixture.server.next('held', orangeDouble.unauthorized);
    const late = fixture.submit();
    await fixture.server.arrived(2);
    // Both requests go out with the first token. This one is refused at once and gets a new token.
    expect(kinds(await fixture.submit())).toEqual(['sent']);
    expect(tokens(fixture)).toBe(2);
    fixture.server.release();
    expect(kinds(await late)).toEqual(['sent']);
    expect(kinds(await fixture.submit())).toEqual(['sent']);
    expect(tokens(fixture)).toBe(2);
  });

  test('that is refused again and again is fetched only once more', async () => {
    const fixture = await open(orangeDouble);
    fixture.server.next(orangeDouble.unauthorized, orangeDouble.unauthorized);
    expect(await fixture.submit()).toEqual([{ kind: 'retry', error: '42' }]);
    expect([tokens(fixture), fixture.asked]).toEqual([2, 2]);
  });

  test('that cannot be had is logged once, and no SMS is sent without one', async () => {
    const fixture = await open(orangeDouble, { stranger: true });
    expect(await fixture.submit()).toEqual([{ kind: 'retry', error: 'token_http_401' }]);
    expect(fixture.asked).toBe(0);
    expect(logged.filter((line) => line.includes('token_http_401'))).toHaveLength(1);
  });

  test('that is throttled makes the route rest as long as asked', async () => {
    const token = { path: '/oauth/v3/token', answer: () => ({ status: 503, headers: { 'retry-after': '30' } }) };
    const fixture = await open({ ...orangeDouble, token });
    expect(await fixture.submit()).toEqual([{ kind: 'retry', error: 'token_http_503' }]);
    const next = fixture.submit();
    fixture.clock.advance(29_999);
    await settled();
    expect(tokens(fixture)).toBe(1);
    fixture.clock.advance(1);
    await next;
    expect(tokens(fixture)).toBe(2);
  });
});

test.each(DOUBLES)('no secret and nothing personal of $name is logged, shown or stored', async (double) => {
  const fixture = await open(double, { callbackSecret: 'a-secret-path-segment' });
  const text = 'Votre code est 4711';
  const results: SubmitResult[] = [];
  for (const fate of Object.values(double.refusals)) {
    fixture.server.next(fate.answer);
    results.push(...(await fixture.submit(anSms({ text }))));
    fixture.clock.advance(60_000);
  }
  const strange = await open(double, { stranger: true });
  results.push(...(await strange.submit(anSms({ text }))));
  await fixture.server.close();
  results.push(...(await fixture.submit(anSms({ text }))));
  expect(logged.length).toBeGreaterThan(0);
  const seen = `${logged.join('\n')}${inspect(results)}`;
  expect(seen).not.toMatch(/fixture|secret|another|atsk|4711|22670000001|token-\d/);
});
