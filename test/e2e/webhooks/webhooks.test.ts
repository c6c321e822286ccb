import { expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../src/common/time.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { AttemptView } from '../../../src/webhooks/endpoints/endpoint.api.js';
import { WebhookTargets } from '../../../src/webhooks/endpoints/webhook-targets.js';
import { delivered, logEventsOf, verified } from '../../support/events/logged-events.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { makeEndpoint, startWebhooks, WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

const URL_OF = 'https://hooks.example.com/in';

unmountAfterEach();

describeOnOneAdapter('the endpoints of webhooks', (adapter) => {
  const start = () => startWebhooks(adapter);

  test('a new endpoint is answered with its secret, which no later answer has, and switches recording on', async () => {
    const { client, clock, app } = await start();
    const { status, body } = await client.post('webhooks', { url: URL_OF });
    expect(status).toBe(200);
    const at = new Date(clock.now()).toISOString();
    const endpoint = {
      id: expect.any(String),
      url: URL_OF,
      types: ['*'],
      ordering: 'none',
      batch: { max: 1, wait_ms: 0 },
      signature: 'hmac',
      description: null,
      status: 'enabled',
      reason: null,
      last_sequence: 0,
      failing_since: null,
      rests_until: null,
      created_at: at,
      updated_at: at,
    };
    expect(body).toEqual({ ...endpoint, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) });
    const { id } = body as { id: string };
    expect((await client.call(`webhooks/${id}`)).body).toEqual(endpoint);
    expect((await client.call('webhooks')).body).toEqual({ items: [endpoint], next_cursor: null });
    expect((await app.get(EventLog, { strict: false }).state(client.accountId)).recording).toBe(true);
  });

  test('all options of a request are stored, and null counts as absent', async () => {
    const { client } = await start();
    const asked = {
      url: URL_OF,
      types: ['message.delivered', 'sms.received'],
      ordering: 'strict',
      batch: { max: 100, wait_ms: 5000 },
      signature: 'ed25519',
      description: 'Boutique',
    };
    const { body } = await client.post('webhooks', asked);
    expect(body).toMatchObject({ ...asked, public_key: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/) });
    expect(body).not.toHaveProperty('secret');
    const nothing = { types: null, ordering: null, batch: { max: null }, signature: null, description: null };
    expect((await client.post('webhooks', { url: URL_OF, ...nothing })).body).toMatchObject({
      types: ['*'],
      ordering: 'none',
      batch: { max: 1, wait_ms: 0 },
      signature: 'hmac',
      description: null,
    });
  });

  test('a change keeps the fields that it does not name', async () => {
    const { client, network } = await start();
    const { id } = await makeEndpoint(client, { batch: { max: 10, wait_ms: 50 }, description: 'a' });
    network.name('other.example.com', ['93.184.216.34']);
    const change = (body: object) => client.call(`webhooks/${id}`, { method: 'PATCH', body });
    const url = 'https://other.example.com/';
    expect(await change({ batch: { max: 20 }, url })).toMatchObject({
      status: 200,
      body: { id, url, batch: { max: 20, wait_ms: 50 }, description: 'a', types: ['*'] },
    });
    expect((await change({ description: '', types: ['otp.verified'], signature: 'hmac' })).body).toMatchObject({
      url,
      description: null,
      types: ['otp.verified'],
    });
    expect(await change({ signature: 'ed25519' })).toMatchObject({ status: 400 });
    expect(await change({})).toMatchObject({ status: 200, body: { types: ['otp.verified'] } });
  });

  test('a change keeps what another one has changed while its URL was being checked', async () => {
    const { client, app } = await start();
    const { id } = await makeEndpoint(client);
    const change = (body: object) => client.call(`webhooks/${id}`, { method: 'PATCH', body });
    const targets = app.get(WebhookTargets, { strict: false });
    const { check } = targets;
    targets.check = async (given) => {
      await change({ description: 'b', types: ['otp.verified'] });
      return check.call(targets, given);
    };
    const { body } = await change({ url: `${URL_OF}/2` });
    expect(body).toMatchObject({ url: `${URL_OF}/2`, description: 'b', types: ['otp.verified'] });
  });

  test('a rotation answers with another secret, and its time may be 0 to 168 hours or left out', async () => {
    const { client } = await start();
    const { id, secret } = await makeEndpoint(client);
    const rotated = await client.call(`webhooks/${id}/rotate`, { method: 'POST' });
    expect(rotated).toMatchObject({ status: 200, body: { id, secret: expect.stringMatching(/^whsec_/) } });
    expect((rotated.body as { secret: string }).secret).not.toBe(secret);
    for (const [keep_hours, status] of [
      [0, 200],
      [168, 200],
      [169, 400],
      [-1, 400],
      [1.5, 400],
      ['24', 400],
    ]) {
      expect((await client.post(`webhooks/${id}/rotate`, { keep_hours })).status).toBe(status);
    }
  });

  test('an endpoint is disabled, enabled and removed', async () => {
    const { client } = await start();
    const { id } = await makeEndpoint(client);
    expect(await client.post(`webhooks/${id}/disable`, undefined)).toMatchObject({
      status: 200,
      body: { id, status: 'disabled', reason: 'requested' },
    });
    expect(await client.post(`webhooks/${id}/enable`, {})).toMatchObject({
      status: 200,
      body: { id, status: 'enabled', reason: null },
    });
    const removed = await client.call(`webhooks/${id}`, { method: 'DELETE' });
    expect(removed).toMatchObject({ status: 200, body: { success: true } });
    expect((await client.call(`webhooks/${id}`)).status).toBe(404);
    expect((await client.call(`webhooks/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  test('test, replay and retry reach the dispatcher', async () => {
    const { client, calls } = await start();
    const { id } = await makeEndpoint(client);
    expect(await client.call(`webhooks/${id}/test`, { method: 'POST' })).toMatchObject({
      status: 200,
      body: { status: 204, ms: 7, response: '' },
    });
    const window = { after: 5, since: '2026-11-21', until: '2026-11-22T00:00:00Z', types: ['otp.verified'] };
    expect(await client.post(`webhooks/${id}/replay`, { ...window, only_failed: true })).toMatchObject({
      status: 200,
      body: { events: 3 },
    });
    expect((await client.call(`webhooks/${id}/replay`, { method: 'POST' })).body).toEqual({ events: 3 });
    calls.kept.add(7);
    expect((await client.post(`webhooks/${id}/attempts/7/retry`, {})).body).toEqual({ events: 1 });
    for (const sequence of ['8', '0', '-1', 'x', '1e3', '07']) {
      const reply = await client.post(`webhooks/${id}/attempts/${sequence}/retry`, {});
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([404, 'event_not_found']);
    }
    const [since, until] = [Date.UTC(2026, 10, 21), Date.UTC(2026, 10, 22)];
    expect(calls.asked).toEqual([
      ['ping', id],
      ['replay', id, { after: 5, since, until, types: ['otp.verified'], onlyFailed: true }],
      ['replay', id, { onlyFailed: false }],
      ['retry', id, 7],
      ['retry', id, 8],
    ]);
  });

  test('a repeat under an Idempotency-Key has no further effect and returns the same secret, which is stored nowhere', async () => {
    const { client, calls, storage } = await start();
    const twice = async (path: string, body: object | undefined) => {
      const [first, again] = [await once(client, path, body), await once(client, path, body)];
      expect([first.status, again.status]).toEqual([200, 200]);
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
      expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
      return first.body as { id: string; secret?: string };
    };
    const { id, secret = '' } = await twice('webhooks', { url: URL_OF });
    const rotated = await twice(`webhooks/${id}/rotate`, { keep_hours: 1 });
    expect(rotated.secret).not.toBe(secret);
    for (const what of ['test', 'disable', 'enable']) await twice(`webhooks/${id}/${what}`, undefined);
    await twice(`webhooks/${id}/replay`, { after: 1 });
    calls.kept.add(7);
    await twice(`webhooks/${id}/attempts/7/retry`, {});
    expect(calls.asked.map((asked) => (asked as unknown[])[0])).toEqual(['ping', 'replay', 'retry']);
    expect((await client.call('webhooks')).body).toMatchObject({ items: [{ id }] });
    const stored = storage.database.serialize().toString('latin1');
    expect(stored).toContain(id);
    for (const each of [secret, rotated.secret ?? '']) expect(stored).not.toContain(each.slice('whsec_'.length));
    expect(await once(client, 'webhooks', { url: `${URL_OF}/2` })).toMatchObject({ status: 422 });
  });

  test('another account finds nothing on any route', async () => {
    const { client, app, url } = await start();
    const { id } = await makeEndpoint(client);
    const other = await clientOf({ app, url });
    expect((await other.call('webhooks')).body).toEqual({ items: [], next_cursor: null });
    for (const name of [id, 'unknown', 'a'.repeat(65), '%00']) {
      for (const [method, rest] of ROUTES) {
        const reply = await other.call(`webhooks/${name}${rest}`, { method });
        expect([rest, reply.status, reply.headers.get('x-error-code')]).toEqual([rest, 404, 'endpoint_not_found']);
      }
    }
    expect((await client.call(`webhooks/${id}`)).body).toMatchObject({ status: 'enabled' });
  });

  test('a 21st endpoint is a 409', async () => {
    const { client } = await start();
    for (let index = 0; index < 20; index++) await makeEndpoint(client);
    const refused = await client.post('webhooks', { url: URL_OF });
    expect(refused).toMatchObject({ status: 409, body: { message: 'Trop de webhooks : maximum 20 par compte' } });
    expect(refused.headers.get('x-error-code')).toBe('too_many_endpoints');
    const first = (await client.call('webhooks?limit=15')).body as { items: unknown[]; next_cursor: string };
    const second = (await client.call(`webhooks?limit=15&cursor=${first.next_cursor}`)).body;
    expect([first.items.length, second]).toMatchObject([15, { items: { length: 5 }, next_cursor: null }]);
    expect((await client.call('webhooks?cursor=x')).status).toBe(400);
  });

  test('every refused URL has the same answer, at creation and at a change', async () => {
    const { client } = await start();
    const { id } = await makeEndpoint(client);
    for (const url of REFUSED) {
      const body = { url };
      for (const reply of [
        await client.post('webhooks', body),
        await client.call(`webhooks/${id}`, { method: 'PATCH', body }),
      ]) {
        expect([url.slice(0, 60), reply.body]).toEqual([
          url.slice(0, 60),
          { statusCode: 400, message: 'URL de webhook refusée', error: 'Bad Request' },
        ]);
        expect(reply.headers.get('x-error-code')).toBe('webhook_url_refused');
      }
    }
    const longest = `${URL_OF}/`.padEnd(2048, 'a');
    expect((await client.post('webhooks', { url: longest })).body).toMatchObject({ url: longest });
  });

  test('a fault in a request is named', async () => {
    const { client } = await start();
    const { id } = await makeEndpoint(client);
    for (const [body, message] of WRONG) {
      const made = await client.post('webhooks', { url: URL_OF, ...body });
      expect([made.status, (made.body as { message: string }).message]).toEqual([400, message]);
    }
    for (const [body, message] of WRONG.filter(([{ url = '' }]) => url === '')) {
      const changed = await client.call(`webhooks/${id}`, { method: 'PATCH', body });
      expect([changed.status, (changed.body as { message: string }).message]).toEqual([400, message]);
    }
    expect((await client.post('webhooks', {})).body).toMatchObject({ message: 'Le champ url est obligatoire' });
    for (const [body, message] of WRONG_WINDOW) {
      const reply = await client.post(`webhooks/${id}/replay`, body);
      expect([reply.status, (reply.body as { message: string }).message]).toEqual([400, message]);
    }
    expect((await client.call(`webhooks/${id}/attempts?status=lost`)).body).toMatchObject({
      message: 'Le champ status est invalide',
    });
  });

  test('attempts are listed with their request, as far as it is kept, and their answer', async () => {
    const { client, clock, storage, app } = await start();
    const { id } = await makeEndpoint(client);
    await logEventsOf({ app }, [delivered(client.accountId), verified(client.accountId)]);
    const insert = storage.database.prepare(
      `INSERT INTO messaging_endpoint_attempt (id, endpoint_id, first, last, sequences, at, ms, ok, status, error, reply)
        VALUES (?, ?, ?, ?, ?, ?, 7, ?, ?, ?, ?)`,
    );
    const add = (of: string, at: number, sequences: readonly number[], ...result: unknown[]) =>
      insert.run(of, id, sequences[0] ?? 0, sequences.at(-1) ?? 0, JSON.stringify(sequences), at, ...result);
    add('a1', clock.now(), [1], 0, 500, null, 'broken');
    add('a2', clock.now() + 1, [1, 2], 1, 204, null, '');
    add('a3', clock.now() + 2, [99], 0, null, 'timeout', null);
    add('a4', clock.now() + 3, [], 1, 200, null, 'pong');
    const list = async (query = '') =>
      (await client.call(`webhooks/${id}/attempts${query}`)).body as {
        items: AttemptView[];
        next_cursor: string | null;
      };
    const first = { type: 'message.delivered', sequence: 1, previous: null };
    const none = { error: null, http_status: null, response: null, request: null };
    expect(await list()).toMatchObject({
      items: [
        { ...none, id: 'a4', sequence: null, sequences: [], status: 'delivered', http_status: 200, response: 'pong' },
        { ...none, id: 'a3', sequence: 99, status: 'failed', error: 'timeout' },
        {
          id: 'a2',
          sequence: 1,
          sequences: [1, 2],
          status: 'delivered',
          http_status: 204,
          response: '',
          request: { events: [first, { type: 'otp.verified', sequence: 2, previous: 1 }] },
        },
        { id: 'a1', status: 'failed', http_status: 500, response: 'broken', ms: 7, request: first },
      ],
      next_cursor: null,
    });
    expect((await list('?status=failed')).items.map((attempt) => attempt.id)).toEqual(['a3', 'a1']);
    expect((await list('?status=delivered&limit=1')).items.map((attempt) => attempt.id)).toEqual(['a4']);
    const { next_cursor } = await list('?limit=3');
    expect((await list(`?cursor=${next_cursor}`)).items.map((attempt) => attempt.id)).toEqual(['a1']);
  });

  test('a page of attempts ends before its requests have more than 1000 events', async () => {
    const { client, clock, storage } = await start();
    const { id } = await makeEndpoint(client, { batch: { max: 100 } });
    const sequences = JSON.stringify(Array.from({ length: 100 }, (_, index) => index + 1));
    const insert = storage.database.prepare(
      `INSERT INTO messaging_endpoint_attempt (id, endpoint_id, first, last, sequences, at, ms, ok)
        VALUES (?, ?, 1, 100, ?, ?, 7, 1)`,
    );
    for (let index = 0; index < 25; index++) insert.run(`a${index}`, id, sequences, clock.now() + index);
    const pages: number[] = [];
    let cursor = '';
    do {
      const { body } = await client.call(`webhooks/${id}/attempts?limit=500${cursor}`);
      const { items, next_cursor } = body as { items: unknown[]; next_cursor: string | null };
      pages.push(items.length);
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`;
    } while (cursor !== '');
    expect(pages).toEqual([10, 10, 5]);
  });

  test('the answer of an address that only an option of the host allows is shown to nobody', async () => {
    const { client, clock, storage, network } = await startWebhooks(adapter, {
      webhooks: { pepper: WEBHOOK_PEPPER, allow: ['http://inner.example.com'] },
    });
    network.name('inner.example.com', ['10.0.0.9']);
    expect((await client.post('webhooks', { url: 'http://inner.example.com:81/' })).status).toBe(400);
    const { id } = await makeEndpoint(client, { url: 'http://inner.example.com/hooks' });
    storage.database
      .prepare(
        `INSERT INTO messaging_endpoint_attempt (id, endpoint_id, first, last, sequences, at, ms, ok, status, reply)
          VALUES ('a1', ?, 1, 1, '[1]', ?, 7, 0, 500, 'a secret of the host')`,
      )
      .run(id, clock.now());
    const { body } = await client.call(`webhooks/${id}/attempts`);
    expect(body).toMatchObject({ items: [{ id: 'a1', http_status: 500, response: null }] });
  });

  test('after a rotation, calls are signed with both secrets until the time is over', async () => {
    const { client, clock, storage } = await start();
    const { id } = await makeEndpoint(client);
    await client.post(`webhooks/${id}/rotate`, { keep_hours: 2 });
    const row = storage.database.prepare('SELECT versions FROM messaging_endpoint WHERE id = ?').get(id);
    const versions = JSON.parse((row as { versions: string }).versions) as { number: number; endsAt: number | null }[];
    expect(versions.map(({ number, endsAt }) => [number, endsAt])).toEqual([
      [2, null],
      [1, clock.now() + 2 * HOUR_MS],
    ]);
  });
});

/** Every route of one endpoint. */
const ROUTES = [
  ['GET', ''],
  ['PATCH', ''],
  ['DELETE', ''],
  ['POST', '/rotate'],
  ['POST', '/test'],
  ['POST', '/replay'],
  ['POST', '/enable'],
  ['POST', '/disable'],
  ['GET', '/attempts'],
  ['POST', '/attempts/1/retry'],
] as const;

const REFUSED = [
  '',
  'hooks.example.com',
  'http://hooks.example.com/in',
  'ftp://hooks.example.com/in',
  'https://user@hooks.example.com/in',
  'https://:secret@hooks.example.com/in',
  'https://hooks.example.com:8443/in',
  'https://inside.example.com/in',
  'https://unknown.example.com/in',
  'https://localhost/in',
  'https://intranet/in',
  'https://127.0.0.1/in',
  'https://2130706433/in',
  'https://0x7f.1/in',
  'https://10.1.2.3/in',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/in',
  'https://[::ffff:10.0.0.1]/in',
  `${URL_OF}/`.padEnd(2049, 'a'),
  `${URL_OF}/${'é'.repeat(400)}`,
];

const WRONG: readonly (readonly [{ readonly url?: unknown; readonly [field: string]: unknown }, string])[] = [
  [{ types: ['message.lost'] }, 'Type d’événement inconnu : message.lost'],
  [{ types: ['*', 'x'] }, 'Type d’événement inconnu : x'],
  [{ types: ['test.ping'] }, 'Type d’événement inconnu : test.ping'],
  [{ types: [] }, 'Le champ types doit être une liste de chaînes de caractères non vide'],
  [{ types: 'message.sent' }, 'Le champ types doit être une liste de chaînes de caractères non vide'],
  [{ types: [1] }, 'Le champ types doit être une liste de chaînes de caractères non vide'],
  [{ ordering: 'loose' }, 'Le champ ordering est invalide'],
  [{ ordering: 1 }, 'Le champ ordering doit être une chaîne de caractères'],
  [{ batch: 5 }, 'Le champ batch est invalide'],
  [{ batch: [] }, 'Le champ batch est invalide'],
  [{ batch: { max: 101 } }, 'Le champ batch.max doit être un entier entre 1 et 100'],
  [{ batch: { max: 0 } }, 'Le champ batch.max doit être un entier entre 1 et 100'],
  [{ batch: { max: '5' } }, 'Le champ batch.max doit être un entier entre 1 et 100'],
  [{ batch: { wait_ms: 5001 } }, 'Le champ batch.wait_ms doit être un entier entre 0 et 5000'],
  [{ signature: 'rsa' }, 'Le champ signature est invalide'],
  [{ description: 'a'.repeat(257) }, 'Le champ description est invalide'],
  [{ description: 'a\u0000' }, 'Le champ description est invalide'],
  [{ url: 5 }, 'Le champ url doit être une chaîne de caractères'],
];

const WRONG_WINDOW: readonly (readonly [object, string])[] = [
  [{ after: 'x' }, `Le champ after doit être un entier entre 0 et ${Number.MAX_SAFE_INTEGER}`],
  [{ after: -1 }, `Le champ after doit être un entier entre 0 et ${Number.MAX_SAFE_INTEGER}`],
  [{ since: 'yesterday' }, 'Le champ since est invalide'],
  [{ until: '2026-02-30' }, 'Le champ until est invalide'],
  [{ types: ['x'] }, 'Type d’événement inconnu : x'],
  [{ only_failed: 'yes' }, 'Le champ only_failed est invalide'],
];

function once(client: ApiClient, path: string, body: object | undefined) {
  return client.call(path, { method: 'POST', body, headers: { 'idempotency-key': 'k1' } });
}
