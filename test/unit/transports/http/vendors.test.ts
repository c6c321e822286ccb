import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { valueAt } from '../../../../src/transports/http/json-values.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import {
  anSms,
  DOUBLES,
  type FixtureOptions,
  GatewayFixture,
} from '../../../support/transports/gateway/gateway-fixture.js';
import type { Trouble } from '../../../support/transports/gateway/gateway-server.js';

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

describe.each(DOUBLES)('$name', (double) => {
  const open = async (options: FixtureOptions = {}) => opened(await GatewayFixture.open(double, options));

  test('sends an SMS as it was given, and keeps its ids and segments', async () => {
    const fixture = await open();
    const text = `Ça coûte 5 € & plus = 100 % 😀 ${'я'.repeat(60)}`;
    const [result] = await fixture.submit(anSms({ number: '22670123456', signature: 'INFOS', text }));
    expect(fixture.complaints).toEqual([]);
    const [taken] = fixture.taken;
    expect(taken).toMatchObject({ to: '22670123456', from: double.ownNumber ?? 'INFOS', text });
    const counted = taken?.segments === undefined ? {} : { segments: 2 };
    expect(result).toEqual({ kind: 'sent', carrierIds: idsGiven(taken, 0), ...counted });
  });

  /** The ids of an SMS: those that the vendor gave, else our reference. */
  const idsGiven = (taken: { readonly ids: readonly string[] } | undefined, position: number) =>
    double.hasNoIds ? [`sms-1.${position}.1`] : taken?.ids;

  /** The result for an SMS without a clear answer. If receipts return our reference, the reference is its id. */
  const inDoubt = (error: string, position = 0) => {
    const echoes = double.vendor('https://sms.example.org').callback?.echoesReference === true;
    return { kind: 'unknown', error, ...(echoes ? { carrierIds: [`sms-1.${position}.1`] } : {}) };
  };

  test('answers a batch in its order, with one SMS a request', async () => {
    const fixture = await open();
    const batch = Array.from({ length: 20 }, (_, position) => anSms({ position, number: `226701234${50 + position}` }));
    const results = await fixture.submit(...batch);
    const byNumber = new Map(fixture.taken.map((taken) => [taken.to, taken]));
    expect(results.map((result) => result.carrierIds)).toEqual(
      batch.map(({ number, position }) => idsGiven(byNumber.get(number), position)),
    );
    expect(fixture.asked).toBe(20);
  });

  test('reports a fault of the SMS as a refusal with the vendor’s code', async () => {
    const fixture = await open();
    const { answer, code } = double.refusals.permanent;
    fixture.server.next(answer);
    expect(await fixture.submit()).toEqual([{ kind: 'refused', error: code }]);
  });

  test.each(['temporary', 'throttled', 'account'] as const)(
    'reports %s trouble as not taken, to be tried again',
    async (kind) => {
      const fixture = await open();
      const { answer, code } = double.refusals[kind];
      fixture.server.next(answer);
      expect(await fixture.submit()).toEqual([{ kind: 'retry', error: code }]);
      expect(fixture.asked).toBe(1);
    },
  );

  test('fails no SMS because of wrong credentials', async () => {
    const fixture = await open({ stranger: true });
    const [result] = await fixture.submit();
    expect(result?.kind).toBe('retry');
    expect(fixture.taken).toEqual([]);
  });

  test('rests a throttled route as long as the vendor asks', async () => {
    const fixture = await open();
    const { answer } = double.refusals.throttled;
    const seconds = Number(answer.headers?.['retry-after'] ?? 1);
    fixture.server.next(answer);
    await fixture.submit();
    const second = fixture.submit(anSms({ position: 1 }));
    fixture.clock.advance(seconds * 1000 - 1);
    await new Promise(setImmediate);
    expect(fixture.asked).toBe(1);
    fixture.clock.advance(1);
    expect(await second).toMatchObject([{ kind: 'sent' }]);
    expect(fixture.asked).toBe(2);
  });

  test.each<[Trouble, string]>([
    ['reset_after_reading', 'connection_lost'],
    ['reset_before_reading', 'connection_lost'],
    ['malformed', 'malformed_answer'],
    ['lying_length', 'malformed_answer'],
    ['huge', 'malformed_answer'],
  ])('reports unknown after %s, and sends nothing again', async (trouble, error) => {
    const fixture = await open();
    fixture.server.next(trouble);
    expect(await fixture.submit()).toEqual([inDoubt(error)]);
    expect(fixture.asked).toBe(1);
  });

  test.each<[Trouble, string]>([
    ['silent', 'timeout'],
    ['stuck', 'malformed_answer'],
  ])('reports unknown after %s too, if the deadline has passed', async (trouble, error) => {
    const fixture = await open({ requestMs: 5000 });
    fixture.server.next(trouble);
    const begun = trouble === 'stuck' ? anAnswerBegins() : undefined;
    const result = fixture.submit();
    await fixture.server.arrived(double.token ? 2 : 1);
    await begun;
    fixture.clock.advance(4999);
    await new Promise(setImmediate);
    expect(await Promise.race([result, 'still waiting'])).toBe('still waiting');
    fixture.clock.advance(1);
    expect(await result).toEqual([inDoubt(error)]);
    expect(fixture.asked).toBe(1);
  });

  test.each([
    [500, 'unknown', 'http_500'],
    [502, 'unknown', 'http_502'],
    [504, 'unknown', 'http_504'],
    [503, 'retry', 'http_503'],
    [429, 'retry', 'http_429'],
    [404, 'retry', 'http_404'],
    [403, 'retry', 'http_403'],
    [400, 'refused', 'http_400'],
  ])('reads HTTP %i without a body as %s', async (status, kind, error) => {
    const fixture = await open();
    fixture.server.next({ status, headers: { 'content-type': 'text/html' }, body: '<html>No.</html>' });
    expect(await fixture.submit()).toEqual([kind === 'unknown' ? inDoubt(error) : { kind, error }]);
  });

  test('does not follow a redirect', async () => {
    const fixture = await open();
    fixture.server.next('redirect');
    expect(await fixture.submit()).toEqual([{ kind: 'retry', error: 'http_307' }]);
    expect(fixture.server.requests.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  test('has sent nothing if nobody listens', async () => {
    const fixture = await open();
    await fixture.server.close();
    const [result] = await fixture.submit();
    expect(result).toMatchObject({ kind: 'retry', error: expect.stringMatching(/connection_refused$/) });
  });

  test('ignores the answer of a peer that is not a gateway', async () => {
    const fixture = await open();
    fixture.server.next(
      { status: 200, body: '[[[]]]' },
      { status: 200, body: 'null' },
      { status: 200, body: '{"messages":7}' },
    );
    for (let position = 0; position < 3; position++) {
      expect(await fixture.submit(anSms({ position }))).toEqual([inDoubt('malformed_answer', position)]);
    }
  });
});

/** Resolves when our client has read the head of an answer to an SMS. */
function anAnswerBegins(): Promise<void> {
  return new Promise((resolve) => {
    const heard = (message: unknown) => {
      if (/token(\?|$)/.test(String(valueAt(message, 'request', 'path')))) return;
      unsubscribe('undici:request:headers', heard);
      resolve();
    };
    subscribe('undici:request:headers', heard);
  });
}

test('has sent nothing if the connection is cut before a byte is written', async () => {
  // This server accepts and closes at once, again and again, so TLS is never established.
  const sockets = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => sockets.listen(0, '127.0.0.1', resolve));
  const address = sockets.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const [double] = DOUBLES;
  if (!double) throw new Error('No doubles.');
  const fixture = opened(
    await GatewayFixture.open({ ...double, vendor: () => double.vendor(`https://127.0.0.1:${port}`) }),
  );
  const [result] = await fixture.submit();
  expect(result?.kind).toBe('retry');
  sockets.close();
});
