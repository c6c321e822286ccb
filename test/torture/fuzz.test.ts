import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PNG } from '../support/common/png.js';
import { CrashBooks } from '../support/crash/crash-books.js';
import { makeAccount, UNITS } from '../support/crash/crash-loop.js';
import { CrashProcess } from '../support/crash/crash-process.js';
import { SqliteFile } from '../support/databases/sqlite-file.js';
import { expectOurShape } from '../support/http/answer-shape.js';
import { ApiClient } from '../support/http/api-client.js';
import {
  almostSend,
  anyJson,
  bytes,
  contentType,
  hostileString,
  oddJson,
  queryString,
} from '../support/http/hostile.js';
import type { Adapter } from '../support/http/http-apps.js';
import { answer, RawServer } from '../support/media/raw-server.js';
import { MsgappClient } from '../support/msgapp/msgapp-app.js';
import { byForm, drawn, note, randomOf, seed } from './form.js';

const LIMIT_MS = byForm(120_000, 900_000);
const RUNS = byForm(250, 10_000);
const REFUSALS = [400, 404, 409, 413, 415, 422, 429];
const FROM = '22679000000';

const random = randomOf('fuzz');
const ADAPTERS = byForm<readonly Adapter[]>([drawn(random, ['express', 'fastify'])], ['express', 'fastify']);

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
}, 60_000);

function opened<T extends { close(): Promise<void> | void }>(each: T): T {
  open.push(each);
  return each;
}

/** A process with every channel, a linked number, and a check for faults afterwards. */
async function serve(adapter: Adapter) {
  const database = `sqlite:${opened(new SqliteFile()).path}`;
  const { accountId, key } = await makeAccount(database);
  const books = opened(await CrashBooks.open(database));
  const host = opened(new CrashProcess({ database, adapter, channels: { codes: 'none' } }));
  await host.start().answering;
  const client = new ApiClient(`${host.url}/api/v1`, accountId, key);
  await new MsgappClient(client, host.url).link(FROM);
  const problems = async () => {
    await books.settled();
    return [...(await books.sumProblems(UNITS)), ...(host.errors ? [host.errors] : [])];
  };
  return { client, books, problems };
}

const mostly = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: hostileString }, { weight: 1, arbitrary: anyJson });

/** The fields of all other routes' bodies, most of them valid. */
const almostOther = fc.record(
  {
    service: mostly(fc.constantFrom('Boutique', 'Banque')),
    number: mostly(fc.constantFrom('22670000001', '22670000002')),
    otp: mostly(fc.constantFrom('0000', '1234')),
    to: mostly(fc.constantFrom('22671000001', '33612345678')),
    body: mostly(fc.constant('Bonjour')),
    from: mostly(fc.constantFrom(FROM, null)),
    channel: mostly(fc.constantFrom('sms', 'msgapp', 'fax')),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  { weight: 3, arbitrary: almostSend.map((value) => JSON.stringify(value) ?? '') },
  { weight: 5, arbitrary: almostOther.map((value) => JSON.stringify(value) ?? '') },
  { weight: 2, arbitrary: anyJson.map((value) => JSON.stringify(value) ?? '') },
  { weight: 1, arbitrary: oddJson },
  { weight: 1, arbitrary: bytes.map((raw) => Buffer.from(raw)) },
);
/** One segment of a path. Fastify routes none of over 100 characters. */
const segment = fc
  .oneof(hostileString, fc.uuid())
  .map((text) => encodeURIComponent(Buffer.from(text.slice(0, 8)).toString()) || 'x');

const posts = [
  'send/sms',
  'sms/quote',
  'send/otp',
  'verify/otp',
  'msgapp/send/text',
  'msgapp/send/media',
  'msgapp/web/connect',
];
const request = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant('POST'), fc.constantFrom(...posts), body, contentType) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant('GET'),
      fc.oneof(
        queryString.map((query) => `sms?${query}`),
        queryString.map((query) => `msgapp/web/status?${query}`),
        segment.map((id) => `sms/${id}`),
        segment.map((id) => `msgapp/messages/${id}`),
        segment.map((token) => `msgapp/web/qr/${token}`),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant('DELETE'),
      segment.map((id) => `msgapp/web/${id}`),
    ),
  },
);

describe('random input to a service', () => {
  test.each(ADAPTERS)(
    'on %s, by any route, is answered with 200 or refused with our error body, and the ledger is correct',
    async (adapter) => {
      const { client, problems } = await serve(adapter);
      const tally: Record<string, number> = {};
      await fc.assert(
        fc.asyncProperty(request, async ([method, path, body, type]) => {
          const headers = { 'x-api-key': client.key, ...(type && { 'content-type': type }) };
          const response = await fetch(`${client.url}/${path}`, {
            method,
            headers,
            ...(body !== undefined && { body }),
          });
          const { status } = response;
          const text = await response.text();
          expectOurShape({ status, text, headers: response.headers }, REFUSALS);
          tally[status] = (tally[status] ?? 0) + 1;
        }),
        { numRuns: RUNS, seed },
      );
      note('Fuzzed requests, by status', { adapter, answers: shown(tally) });
      expect(tally[200]).toBeGreaterThan(0);
      expect(await problems()).toEqual([]);
    },
    LIMIT_MS,
  );

  test.each(ADAPTERS)(
    'on %s, as a malformed file is refused in one sentence and not charged, or sent and charged',
    async (adapter) => {
      const { client, books, problems } = await serve(adapter);
      const server = opened(await RawServer.open(({ socket }) => void socket.end(malformed())));
      const urls = [
        ...Array.from({ length: byForm(40, 1000) }, (_, index) => `http://127.0.0.1:${server.port}/${index}`),
        ...ODD_URLS,
      ];
      const tally: Record<string, number> = {};
      for (const mediaUrl of urls) {
        const { status, body } = await client.post('msgapp/send/media', { to: '22671000001', mediaUrl, from: FROM });
        tally[status] = (tally[status] ?? 0) + 1;
        if (status === 200) continue;
        const message = "Le média n'a pas pu être récupéré";
        expect([mediaUrl, body]).toEqual([mediaUrl, { statusCode: 400, message, error: 'Bad Request' }]);
      }
      note('Malformed files, by status', { adapter, answers: shown(tally) });
      expect([tally[200], tally[400]]).toEqual([expect.any(Number), expect.any(Number)]);
      await books.settled();
      expect(await client.balance()).toBe(UNITS - 2 * (tally[200] ?? 0));
      expect(await problems()).toEqual([]);
    },
    LIMIT_MS,
  );
});

function shown(tally: Readonly<Record<string, number>>): string {
  return Object.entries(tally)
    .map(([status, times]) => `${times} × ${status}`)
    .join(', ');
}

/** URLs that lead to no address that we connect to. */
const ODD_URLS = [
  'http://user:word@127.0.0.1/',
  'file:///etc/passwd',
  'ftp://127.0.0.1/x',
  'http://',
  'data:image/png;base64,AA==',
  'http://10.0.0.1:1/',
  'http://169.254.169.254/latest',
  'http://127.0.0.1:1/',
  'http://[::ffff:10.0.0.1]/',
  'x',
];

/** The bytes of an answer, which may or may not be valid HTTP and a valid file. */
function malformed(): Buffer {
  const some = <T>(...from: readonly [T, ...T[]]): T => drawn(random, from);
  const body = some<Buffer>(
    PNG,
    PNG.subarray(0, Math.floor(random() * PNG.length)),
    Buffer.alloc(0),
    Buffer.from('<html>'),
    Buffer.from(Array.from({ length: 300 }, () => Math.floor(random() * 256))),
  );
  const headers: Record<string, string> = some<Record<string, string>>(
    {},
    { 'content-type': some('image/png', 'video/mp4; x="', 'IMAGE/PNG', '\u0001', 'a'.repeat(5000)) },
    { 'content-length': some('-1', '1e3', '99999999999999999999', String(body.length + 5), '0') },
    { 'transfer-encoding': some('chunked', 'gzip, chunked', 'identity') },
    { 'content-encoding': some('gzip', 'br', 'x') },
    { location: some('/again', 'file:///etc/passwd', 'http://10.0.0.1/', '//', '') },
    { 'content-disposition': some('attachment; filename="../../x"', "attachment; filename*=UTF-8''%ZZ", '\u0000') },
  );
  const status =
    'location' in headers ? some(301, 302, 303, 307, 308, 300, 399) : some(200, 200, 200, 204, 206, 404, 500, 999, 0);
  const whole = answer(status, headers, body);
  return some(whole, whole, whole, whole.subarray(0, Math.floor(random() * whole.length)));
}
