import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { expectOurShape } from '../../support/http/answer-shape.js';
import type { ApiClient } from '../../support/http/api-client.js';
import {
  almostSend,
  anyJson,
  bytes,
  contentType,
  hostileString,
  oddJson,
  queryString,
} from '../../support/http/hostile.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { type Service, startService } from '../../support/mounting/services.js';

/** The torture runs have more. */
const RUNS = 100;
const REFUSALS = [400, 409, 413, 415, 422];

interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: Record<string, unknown>;
}

describeOnBothAdapters('random input', (adapter) => {
  let service: Service;
  let client: ApiClient;
  let ledger: LedgerService;
  const logged: string[] = [];

  beforeAll(async () => {
    const note = (line: unknown): void => void logged.push(String(line));
    service = await startService(adapter, {}, { options: { logger: { log() {}, warn: note, error: note } } });
    client = await service.client(1_000_000_000);
    ledger = service.app.get(LedgerService, { strict: false });
  });
  afterAll(async () => {
    try {
      expect(await ledger.checkLedger()).toEqual([]);
      expect(logged).toEqual([]);
    } finally {
      await service.close();
    }
  });

  /** Sends a request, and checks what must hold for every answer. */
  const ask = async (
    path: string,
    init: RequestInit & { readonly headers?: Record<string, string> },
  ): Promise<Answer> => {
    const response = await fetch(`${client.url}/${path}`, {
      ...init,
      headers: { 'x-api-key': client.key, ...init.headers },
    });
    const { status } = response;
    const text = await response.text();
    const body = expectOurShape({ status, text, headers: response.headers }, REFUSALS);
    return { status, body, replayed: response.headers.get('idempotency-replayed') === 'true' };
  };

  const post = (path: string, body: string | Uint8Array, headers: Record<string, string>) =>
    ask(path, { method: 'POST', body: typeof body === 'string' ? body : Buffer.from(body), headers });

  /** Sends, and proves that exactly what the answer says was charged. */
  const send = async (body: string | Uint8Array, headers: Record<string, string>): Promise<void> => {
    const before = await ledger.balance(client.accountId);
    const { status, body: answer, replayed } = await post('send/sms', body, headers);
    const charged = status === 200 && !replayed ? answer.sms_units : 0;
    expect(await ledger.balance(client.accountId)).toBe(before - Number(charged));
    if (status === 200) {
      const keys = ['date_sent', 'number', 'signature', 'smsID', 'sms_units', 'userID'];
      expect(Object.keys(answer).sort()).toEqual(keys);
      expect(answer.sms_units).toBeGreaterThan(0);
    }
  };

  const quote = async (body: string | Uint8Array, headers: Record<string, string>): Promise<void> => {
    const before = await ledger.balance(client.accountId);
    const { status, body: answer } = await post('sms/quote', body, headers);
    expect(await ledger.balance(client.accountId)).toBe(before);
    if (status === 200) expect(answer).toMatchObject({ segments: expect.any(Number), sms_units: expect.any(Number) });
  };

  const json = (value: unknown): string => JSON.stringify(value) ?? '';
  const headers = fc
    .tuple(
      contentType,
      fc.option(fc.oneof(fc.constantFrom('k1', 'k2', ''), fc.string({ maxLength: 300 })), { freq: 3 }),
    )
    .map(([type, key]) => ({
      'content-type': type,
      ...(key === null || /[^\x20-\x7e]/.test(key) ? {} : { 'idempotency-key': key }),
    }));
  const body = fc.oneof(
    { weight: 5, arbitrary: almostSend.map(json) },
    { weight: 3, arbitrary: anyJson.map(json) },
    { weight: 2, arbitrary: oddJson },
    { weight: 2, arbitrary: bytes },
    { weight: 1, arbitrary: hostileString },
  );

  test.each<['send' | 'quote']>([['send'], ['quote']])(
    'as a %s is refused with our error body, or charged as the answer says',
    async (what) => {
      // The sandbox refunds SMS that it refuses, which would falsify the sums.
      const charge = what === 'send' ? send : quote;
      await fc.assert(
        fc.asyncProperty(body, headers, (given, under) => charge(withoutRefunds(given), under)),
        { numRuns: RUNS },
      );
    },
  );

  test('as a query of the list is refused with our error body or answered with a page', async () => {
    await fc.assert(
      fc.asyncProperty(queryString, async (query) => {
        const { status, body: answer } = await ask(`sms?${query}`, {});
        if (status === 200) expect(Object.keys(answer).sort()).toEqual(['items', 'next_cursor', 'searched_until']);
      }),
      { numRuns: RUNS },
    );
  });

  test('that is valid is answered with 200, so the refusals above mean something', async () => {
    const good = fc.record({
      signature: fc.constantFrom('INFOS', 'ALERTE'),
      content: fc
        .string({ unit: 'grapheme', maxLength: 200 })
        .map((text) => `x${text.replaceAll('\u0000', '').replaceAll('\u001b', '')}`),
      number: fc.uniqueArray(fc.integer({ min: 22670000000, max: 22670899999 }).map(String), { minLength: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(good, async (given) => {
        const before = await ledger.balance(client.accountId);
        const quoted = await post('sms/quote', json(given), { 'content-type': 'application/json' });
        const sent = await post('send/sms', json(given), { 'content-type': 'application/json' });
        expect([quoted.status, sent.status]).toEqual([200, 200]);
        expect(sent.body.sms_units).toBe(quoted.body.sms_units);
        expect(await ledger.balance(client.accountId)).toBe(before - Number(sent.body.sms_units));
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['lists that never end', '['.repeat(100_000)],
    ['objects that never end', '{"a":'.repeat(100_000)],
    ['lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    [
      'lists in a good body',
      `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},${json({ signature: 'INFOS', content: 'x', number: ['22670000000'] }).slice(1)}`,
    ],
    [
      'objects in a good body',
      `{${json({ signature: 'INFOS', content: 'x', number: ['22670000000'] }).slice(1, -1)},"x":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    ],
  ])('that is a bomb of 100 000 levels is a 400, and the service goes on: %s', async (_what, bomb) => {
    for (const more of [{}, { 'idempotency-key': 'bomb' }]) {
      const { status } = await post('send/sms', bomb, { 'content-type': 'application/json', ...more });
      expect(status).toBe(400);
    }
    expect((await ask('balance', {})).status).toBe(200);
  });

  test('may have a thousand levels in an ignored field, and any number of brackets in a text', async () => {
    const deep = `{${json({ signature: 'INFOS', content: '[{"\\'.repeat(2000), number: ['22670000000'] }).slice(1, -1)},"x":${'['.repeat(999)}${']'.repeat(999)}}`;
    await send(deep, { 'content-type': 'application/json', 'idempotency-key': 'deep' });
    const again = await post('send/sms', deep, { 'content-type': 'application/json', 'idempotency-key': 'deep' });
    expect([again.status, again.replayed]).toEqual([200, true]);
    expect((await post('send/sms', deep.replace('"x":', '"x":['), { 'content-type': 'application/json' })).status).toBe(
      400,
    );
  });
});

/** The sandbox gives back SMS that it refuses, which would falsify the sums. */
function withoutRefunds(body: string | Uint8Array): string | Uint8Array {
  return typeof body === 'string' ? body.replaceAll('990001', '990000') : body;
}
