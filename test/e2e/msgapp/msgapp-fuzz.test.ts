import { STATUS_CODES } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { type FetchedMedia, MediaFetcher, type MediaRequest } from '../../../src/media/media-fetcher.js';
import { PNG } from '../../support/common/png.js';
import { anyJson, bytes, contentType, hostileString, oddJson } from '../../support/http/hostile.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { type MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

/** The torture runs have more. */
const RUNS = 80;
const STACK = /\n\s*at |node_modules|file:\/\/|\.[jt]s:\d/;

/** A fetcher that requests nothing: any URL that does not begin with `good:` is refused. */
class Shelf extends MediaFetcher {
  override async fetch({ url }: MediaRequest): Promise<FetchedMedia> {
    if (!url.startsWith('good:')) throw new Error('There is no such file.');
    const body = (async function* () {
      yield PNG;
    })();
    return { contentType: undefined, fileName: undefined, body };
  }
}

const almost = (field: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: field }, { weight: 2, arbitrary: hostileString }, { weight: 1, arbitrary: anyJson });

/** The fields of both kinds of message, most of them valid. */
const message = fc
  .record(
    {
      to: almost(fc.constantFrom('22671000001', '33612345678')),
      body: almost(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 })),
      from: almost(fc.constantFrom('22670000100', '22670000101', null)),
      mediaUrl: almost(fc.constantFrom('good:1', 'good:2')),
      mediaType: almost(fc.constantFrom('image', 'video', 'document', 'audio', 'voice', null)),
      caption: almost(fc.constantFrom('Voilà', null)),
      metadata: almost(fc.dictionary(fc.string(), hostileString, { maxKeys: 17 })),
    },
    { requiredKeys: ['to', 'body', 'mediaUrl'] },
  )
  .map((fields) => JSON.stringify(fields));

const anyBody = fc.oneof(
  { weight: 6, arbitrary: message },
  { weight: 2, arbitrary: anyJson.map((value) => JSON.stringify(value) ?? '') },
  { weight: 1, arbitrary: oddJson },
  { weight: 1, arbitrary: bytes },
);

/** One of each kind of answer, whatever the random numbers produce besides. */
const EXAMPLES = ['22670000100', '22670000101', 'nobody'].map(
  (from): [string, { 'content-type': 'application/json' }] => [
    JSON.stringify({ to: '22671000001', body: 'Bonjour', mediaUrl: 'good:1', mediaType: 'image', from }),
    { 'content-type': 'application/json' },
  ],
);

describeOnOneAdapter('random input to a messaging-app channel', (adapter) => {
  let service: Service;
  let client: MsgappClient;
  let ledger: LedgerService;
  const logged: string[] = [];

  beforeAll(async () => {
    const note = (line: unknown): void => void logged.push(String(line));
    service = await startMsgapp(
      (options, setup) =>
        startService(adapter, options, { ...setup, options: { logger: { log() {}, warn() {}, error: note } } }),
      { mediaFetcher: Shelf },
    );
    client = await msgappClient(service, 1_000_000);
    await client.link('22670000100');
    ledger = service.app.get(LedgerService);
  });
  afterAll(async () => {
    try {
      expect(await ledger.checkLedger()).toEqual([]);
      expect(logged).toEqual([]);
    } finally {
      await service.close();
    }
  });

  const headers = fc
    .tuple(contentType, fc.option(fc.constantFrom('k1', 'k2', ''), { freq: 3 }))
    .map(([type, key]) => ({ 'content-type': type, ...(key === null ? {} : { 'idempotency-key': key }) }));

  test.each([
    ['text', 1],
    ['media', 2],
  ] as const)('as %s is refused with our error body, or charged and stored', async (kind, units) => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(anyBody, headers, async (given, under) => {
        const body = typeof given === 'string' ? given : Buffer.from(given);
        const before = await ledger.balance(client.api.accountId);
        const {
          status,
          body: answer,
          headers: answerHeaders,
        } = await client.api.call(`msgapp/send/${kind}`, {
          method: 'POST',
          headers: under,
          body,
        });
        seen.add(status);
        const isNew = status === 200 && answerHeaders.get('idempotency-replayed') === null;
        expect(await ledger.balance(client.api.accountId)).toBe(before - (isNew ? units : 0));
        if (status === 200) {
          expect(answer).toEqual({ success: true, messageID: expect.any(String) });
          return;
        }
        expect([400, 409, 413, 415, 422]).toContain(status);
        expect(answer).toEqual({ statusCode: status, message: expect.any(String), error: STATUS_CODES[status] });
        expect(JSON.stringify(answer)).not.toMatch(STACK);
      }),
      { numRuns: RUNS, examples: EXAMPLES },
    );
    expect([...seen]).toEqual(expect.arrayContaining([200, 400, 409]));
  });

  test('as an id or a token is a 404, or a 400 if it cannot be read', async () => {
    await fc.assert(
      fc.asyncProperty(hostileString, async (text) => {
        const id = encodeURIComponent(Buffer.from(text).toString()) || 'x';
        if (id.length > 100 || /^\.{1,2}$/.test(id)) return;
        for (const [method, path] of [
          ['GET', `messages/${id}`],
          ['DELETE', `web/${id}`],
          ['GET', `web/qr/${id}`],
          ['GET', `web/qr/${id}/image`],
          ['GET', `web/status?sessionID=${id}`],
        ]) {
          const { status, body } = await client.api.call(`msgapp/${path}`, { method: method ?? '' });
          expect([path, status]).toEqual([path, 404]);
          expect(body).toEqual({ statusCode: 404, message: expect.any(String), error: 'Not Found' });
        }
        const scan = await client.scan(id, text);
        expect([400, 404]).toContain(scan.status);
        expect((await call(`${service.url}/sandbox/media/${id}`)).status).toBe(404);
      }),
      { numRuns: RUNS },
    );
  });
});
