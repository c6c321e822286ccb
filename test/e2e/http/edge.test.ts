import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { hostModule, toyModule } from '../../support/http/edge-toys.js';
import { describeOnBothAdapters, type RunningApp, startApp } from '../../support/http/http-apps.js';
import { type Call, call, RawConnection, type Reply } from '../../support/http/http-client.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const KEY = { 'x-api-key': 'good' };
const JSON_TYPE = { 'content-type': 'application/json' };

const UNAUTHORIZED = { statusCode: 401, message: 'Clé API manquante ou invalide', error: 'Unauthorized' };
const TOO_LARGE = { statusCode: 413, message: 'Requête trop volumineuse', error: 'Payload Too Large' };
const MALFORMED = {
  statusCode: 400,
  message: 'Le corps de la requête n’est pas un JSON valide',
  error: 'Bad Request',
};
const NO_OBJECT = { statusCode: 400, message: 'Le corps de la requête doit être un objet JSON', error: 'Bad Request' };
const NO_JSON = {
  statusCode: 415,
  message: 'Le corps de la requête doit être du JSON (Content-Type: application/json)',
  error: 'Unsupported Media Type',
};
const badRequest = (message: string) => ({ statusCode: 400, message, error: 'Bad Request' });

describeOnBothAdapters('the edge', (adapter) => {
  let running: RunningApp;

  beforeAll(async () => {
    running = await startApp(hostModule(toyModule({ maxRecipients: 1000 })), adapter);
  });

  afterAll(() => running.close());

  const post = (path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
    call(`${running.url}/api/v1/${path}`, { method: 'POST', headers: { ...KEY, ...headers }, body });

  describe('bodies', () => {
    test('passes the declared fields and the caller to the handler, and ignores other fields', async () => {
      const { status, body } = await post('send/sms', { ...SEND, extra: { deep: [1] } });
      expect([status, body]).toEqual([200, { body: SEND, by: 'acme', via: 'key' }]);
    });

    test('waits for a key that has to be looked up', async () => {
      const { body } = await post('send/sms', SEND, { 'x-api-key': 'slow' });
      expect(body).toMatchObject({ by: 'acme' });
    });

    test.each<[string, Record<string, string>, string | undefined]>([
      ['nothing', {}, undefined],
      ['nothing, with a JSON content type', JSON_TYPE, undefined],
      ['nothing, with another content type', { 'content-type': 'text/plain' }, undefined],
      ['an empty string', JSON_TYPE, ''],
      ['{}', JSON_TYPE, '{}'],
    ])('treats %s as an empty object', async (_what, headers, body) => {
      for (const method of ['POST', 'DELETE']) {
        const path = method === 'POST' ? 'echo' : 'sessions/7';
        const reply = await call(`${running.url}/api/v1/${path}`, { method, headers: { ...KEY, ...headers }, body });
        expect([reply.status, reply.body]).toEqual([200, expect.objectContaining({ keys: [] })]);
      }
    });

    test('treats an empty chunked body as an empty object, whatever its type', async () => {
      for (const type of ['Content-Type: text/plain\r\n', 'Content-Type: application/json\r\n', '']) {
        const connection = await RawConnection.open(running.port);
        connection.write(
          `POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\n${type}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`,
        );
        await connection.until(({ closed }) => closed);
        expect(connection.received).toContain('"keys":[]');
      }
    });

    test.each(['[]', '"text"', '7', 'null', 'true'])('refuses %s, which is not an object', async (body) => {
      const reply = await post('echo', body, JSON_TYPE);
      expect([reply.status, reply.body]).toEqual([400, NO_OBJECT]);
    });

    test.each<[string, string | Uint8Array]>([
      ['half an object', '{"signature":'],
      ['white space', '  '],
      ['two objects', '{}{}'],
      ['no UTF-8', new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
    ])('refuses %s as malformed', async (_what, body) => {
      const reply = await post('echo', body, JSON_TYPE);
      expect([reply.status, reply.body]).toEqual([400, MALFORMED]);
    });

    test('ignores a byte order mark', async () => {
      expect(await post('echo', '\ufeff{"a":1}', JSON_TYPE)).toMatchObject({ status: 200, body: { keys: ['a'] } });
    });

    test.each<[string, Record<string, string>]>([
      ['text', { 'content-type': 'text/plain' }],
      ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['no type', { 'content-type': '' }],
      ['a JSON dialect', { 'content-type': 'application/problem+json' }],
      ['another charset', { 'content-type': 'application/json; charset=latin1' }],
      ['compressed JSON', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    ])('refuses %s with 415', async (_what, headers) => {
      const reply = await post('echo', '{"a":1}', headers);
      expect([reply.status, reply.body]).toEqual([415, NO_JSON]);
    });

    test.each([
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json; charset=utf8; x=y',
    ])('accepts %s', async (type) => {
      expect(await post('echo', '{"a":1}', { 'content-type': type })).toMatchObject({ status: 200 });
    });

    test('ignores a field named __proto__, which is as harmless as any other', async () => {
      const reply = await post('echo', '{"__proto__":{"polluted":1},"constructor":{"prototype":1},"a":1}', JSON_TYPE);
      expect([reply.status, reply.body]).toMatchObject([200, { polluted: false, keys: ['constructor', 'a'] }]);
    });

    test('accepts exactly 50 MB and not one byte more', async () => {
      const fifty = 52_428_800;
      const padded = (size: number): string => `{"a":"${'x'.repeat(size - 8)}"}`;
      expect(await post('echo', padded(fifty), JSON_TYPE)).toMatchObject({ status: 200, body: { size: fifty } });
      const over = await post('echo', padded(fifty + 1), JSON_TYPE);
      expect([over.status, over.body]).toEqual([413, TOO_LARGE]);
    });

    test.each([
      // An object, a colon, a list, and a comma between the entries.
      ['40 times as much structure as it may have recipients', '0', 40 * 1000 + 10_000 - 2],
      // An object and a list around the entries.
      ['two objects for each recipient that it may have', '{}', 2 * 1000 + 10_000 - 2],
    ])('accepts a body with %s and 10 000 more, but no more than that', async (_what, entry, most) => {
      const entries = (count: number): string => `{"a":[${Array.from({ length: count }, () => entry).join(',')}]}`;
      expect(await post('echo', entries(most), JSON_TYPE)).toMatchObject({ status: 200 });
      const over = await post('echo', entries(most + 1), { ...JSON_TYPE, 'idempotency-key': 'k' });
      expect([over.status, over.body]).toEqual([400, badRequest('Requête invalide')]);
    });

    test.each(['{},', '[],', '"a":0,'])(
      'refuses 47 MB of %s after the first ones: it does not wait for the rest and parses nothing',
      async (unit) => {
        const parse = jest.spyOn(JSON, 'parse');
        const connection = await RawConnection.open(running.port);
        connection.write(
          `POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 47000000\r\n\r\n`,
        );
        connection.write((unit.startsWith('"') ? '{' : '{"x":[').padEnd(131_072, unit));
        await connection.until(({ received }) => received.includes('}'));
        expect(parse).not.toHaveBeenCalled();
        parse.mockRestore();
        expect(connection.received).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\nConnection: close\r\n/i);
        expect(connection.body).toEqual(badRequest('Requête invalide'));
        connection.socket.destroy();
      },
    );

    test('keeps a connection usable after a small refused body', async () => {
      const connection = await RawConnection.open(running.port);
      const head = 'POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\nContent-Length: 7\r\nContent-Type: ';
      connection.write(`${head}text/plain\r\n\r\n{"a":1}${head}application/json\r\n\r\n{"b":1}`);
      await connection.until(({ received }) => received.includes('"keys":["b"]'));
      expect(connection.received).toContain('415');
      connection.socket.destroy();
    });
  });

  describe('keys', () => {
    test.each([
      ['GET', 'sms'],
      ['POST', 'send/sms'],
      ['DELETE', 'sessions/7'],
    ])('refuses %s %s without a key', async (method, path) => {
      const reply = await call(`${running.url}/api/v1/${path}`, { method });
      expect([reply.status, reply.body]).toEqual([401, UNAUTHORIZED]);
      expect(reply.headers.get('www-authenticate')).toMatch(/^ApiKey /);
    });

    test('answers a stranger 401 before it looks at the body', async () => {
      const { status, body } = await post('send/sms', '{"oops', { ...JSON_TYPE, 'x-api-key': 'bad' });
      expect([status, body]).toEqual([401, UNAUTHORIZED]);
    });

    test('answers 503 if the key cannot be looked up', async () => {
      const reply = await post('send/sms', SEND, { 'x-api-key': 'down' });
      expect([reply.status, reply.body, reply.headers.get('retry-after')]).toEqual([
        503,
        { statusCode: 503, message: 'Service momentanément indisponible', error: 'Service Unavailable' },
        '1',
      ]);
    });

    test('asks for no key if none is needed, and still accepts only JSON', async () => {
      const url = `${running.url}/api/v1/open`;
      expect(await call(url, { method: 'POST', body: { a: 1 } })).toMatchObject({ status: 200, body: { keys: ['a'] } });
      const request: Call = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' };
      expect((await call(url, request)).body).toEqual(NO_JSON);
    });
  });

  describe('fields', () => {
    test.each<[string, unknown, string]>([
      ['a missing one', { content: 'x' }, 'Le champ signature est obligatoire'],
      ['null', { ...SEND, signature: null }, 'Le champ signature est obligatoire'],
      [
        'a number instead of a string',
        { ...SEND, signature: 7 },
        'Le champ signature doit être une chaîne de caractères',
      ],
      [
        'an object instead of an optional string',
        { ...SEND, content: {} },
        'Le champ content doit être une chaîne de caractères',
      ],
      [
        'a string instead of a list',
        { ...SEND, number: '1' },
        'Le champ number doit être une liste de chaînes de caractères non vide',
      ],
      [
        'an empty list',
        { ...SEND, number: [] },
        'Le champ number doit être une liste de chaînes de caractères non vide',
      ],
      [
        'a number in a list of strings',
        { ...SEND, number: ['22670000000', 22670000000] },
        'Les numéros de number doivent être des chaînes, comme dans ["22670000001"], et non 22670000000 : un nombre JSON perdrait des zéros de tête',
      ],
      [
        'a plus sign',
        { ...SEND, number: ['22670000000', '+22670000001'] },
        'Numéro invalide : +22670000001. Vouliez-vous dire 22670000001 ?',
      ],
      ['a long nonsense', { ...SEND, number: ['9'.repeat(100)] }, `Numéro invalide : ${'9'.repeat(63)}…`],
      [
        'too many entries',
        { ...SEND, number: Array.from({ length: 1001 }, () => 'x') },
        'Trop de destinataires : 1001, maximum 1000',
      ],
      ['the first of two', { number: [] }, 'Le champ signature est obligatoire'],
    ])('refuses %s', async (_what, body, message) => {
      const reply = await post('send/sms', body);
      expect([reply.status, reply.body]).toEqual([400, badRequest(message)]);
    });

    test('treats an optional field that is null as absent', async () => {
      const { number, signature } = SEND;
      expect((await post('send/sms', { ...SEND, content: null })).body).toMatchObject({ body: { signature, number } });
    });

    test('reads integers in a query and refuses anything else', async () => {
      const list = (query: string): Promise<Reply> => call(`${running.url}/api/v1/sms${query}`, { headers: KEY });
      expect((await list('')).body).toEqual({ page: {} });
      expect((await list('?limit=20&cursor=abc&x=1')).body).toEqual({ page: { limit: 20, cursor: 'abc' } });
      for (const limit of ['0', '501', '2.5', '1e2', 'x', '', '1&limit=2', '9'.repeat(30)]) {
        const { status, body } = await list(`?limit=${limit}`);
        expect([status, body]).toEqual([400, badRequest('Le champ limit doit être un entier entre 1 et 500')]);
      }
    });
  });

  describe('errors', () => {
    test.each<[string, number, string, string]>([
      ['refused', 400, 'Signature non vérifiée ou invalide', 'Bad Request'],
      ['running', 409, 'Une requête avec cette Idempotency-Key est en cours de traitement', 'Conflict'],
      ['storage', 503, 'Service momentanément indisponible', 'Service Unavailable'],
      ['http', 400, 'one, two', 'Bad Request'],
      ['unexpected', 500, 'Erreur interne du service', 'Internal Server Error'],
    ])('gives %s its status, one string and the name of the status', async (how, status, message, error) => {
      const reply = await post(`fail/${how}`);
      expect([reply.status, reply.body]).toEqual([status, { statusCode: status, message, error }]);
      expect(reply.headers.get('retry-after')).toBe(status === 409 || status === 503 ? '1' : null);
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    test('leaves an unknown route below our path to the host', async () => {
      const unknown = await post('nothing', { a: 1 });
      expect([unknown.status, unknown.body]).toMatchObject([404, { message: 'Cannot POST /api/v1/nothing' }]);
      const unreadable = await post('nothing', '{"oops', JSON_TYPE);
      expect([unreadable.status, unreadable.body]).not.toMatchObject([400, MALFORMED]);
    });
  });

  describe('headers', () => {
    test('passes the Idempotency-Key on, and sets the headers that a handler asks for', async () => {
      for (const key of [undefined, 'k1', '!~'.repeat(127), 'x'.repeat(255)]) {
        const reply = await post('keyed', undefined, key === undefined ? {} : { 'idempotency-key': key });
        expect([reply.status, reply.body]).toEqual([200, { key: key ?? null }]);
        expect(reply.headers.get('idempotency-replayed')).toBe('true');
      }
    });

    test.each<[string, string[]]>([
      ['an empty one', ['']],
      ['a space', ['a b']],
      ['a letter beyond ASCII', ['é']],
      ['256 characters', ['x'.repeat(256)]],
      ['two of them', ['a', 'a']],
    ])('refuses %s as an Idempotency-Key', async (_what, keys) => {
      const connection = await RawConnection.open(running.port);
      const lines = keys.map((key) => `Idempotency-Key: ${key}\r\n`).join('');
      connection.write(
        Buffer.from(
          `POST /api/v1/keyed HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\n${lines}Connection: close\r\n\r\n`,
          'latin1',
        ),
      );
      await connection.until(({ closed }) => closed);
      expect(connection.received).toMatch(/^HTTP\/1\.1 400 /);
      expect(connection.received).toContain('Idempotency-Key invalide');
    });
  });

  test('serves HEAD wherever it serves GET', async () => {
    expect((await call(`${running.url}/api/v1/sms`, { method: 'HEAD', headers: KEY })).status).toBe(200);
    expect((await call(`${running.url}/api/v1/sms`, { method: 'HEAD' })).status).toBe(401);
  });

  test('applies the same rules to a GET that has a body', async () => {
    const connection = await RawConnection.open(running.port);
    const body = `{"a":"${'x'.repeat(200_000)}"}`;
    connection.write(
      `GET /api/v1/sms HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    await connection.until(({ closed }) => closed);
    expect(connection.body).toEqual({ page: {} });
  });
});

describeOnBothAdapters('the log of a fault', (adapter) => {
  test('has the cause of a 500 and the reason of a 503 without long numbers; a refusal is never logged', async () => {
    const lines: string[] = [];
    const note = (message: unknown): void => {
      lines.push(String(message));
    };
    const logger = { log: () => {}, warn: note, error: note };
    const running = await startApp(hostModule(toyModule()), adapter, { options: { logger } });
    try {
      for (const how of ['refused', 'http', 'unexpected', 'storage']) {
        await call(`${running.url}/api/v1/fail/${how}`, { method: 'POST', headers: KEY });
      }
      await call(`${running.url}/api/v1/echo`, { method: 'POST', headers: { ...KEY, ...JSON_TYPE }, body: '{"226' });
    } finally {
      await running.close();
      Logger.overrideLogger(false);
    }
    expect(lines).toEqual([
      expect.stringContaining('column ####### of secret_table'),
      expect.stringMatching(/^the disk is full/),
    ]);
  });
});

describeOnBothAdapters('two applications in one process', (adapter) => {
  test('have their own paths, languages and limits', async () => {
    const first = await startApp(hostModule(toyModule({ path: 'one', limits: { bodyBytes: 1000 } })), adapter);
    const second = await startApp(hostModule(toyModule({ path: '/two/v2/', locale: 'en' })), adapter);
    try {
      const big: Call = { method: 'POST', headers: KEY, body: { a: 'x'.repeat(2000) } };
      expect((await call(`${first.url}/one/echo`, big)).body).toEqual(TOO_LARGE);
      expect(await call(`${second.url}/two/v2/echo`, big)).toMatchObject({ status: 200 });
      expect((await call(`${first.url}/one/sms`)).body).toEqual(UNAUTHORIZED);
      expect((await call(`${second.url}/two/v2/sms`)).body).toMatchObject({ message: 'Missing or invalid API key' });
      expect((await call(`${second.url}/one/sms`)).status).toBe(404);
    } finally {
      await first.close();
      await second.close();
    }
  });
});
