import { afterEach, expect, jest, test } from '@jest/globals';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionManager } from '../../../src/msgapp/sessions/session-manager.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { EventReader } from '../../support/events/event-reader.js';
import { type AppSetup, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call, RawConnection } from '../../support/http/http-client.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { MSGAPP, type MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const NOT_FOUND = { statusCode: 404, message: 'Code QR introuvable ou expiré', error: 'Not Found' };

let closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  closing = [];
});

describeOnOneAdapter('the code to scan', (adapter) => {
  async function start({ clock, ...setup }: AppSetup & { clock?: FakeClock } = {}) {
    const service: Service = await startMsgapp(
      (options, more) => startService(adapter, options, { ...more, ...setup }),
      { ...(clock && { clock: { useValue: clock } }), msgapp: { ...MSGAPP, sessions: { leaseMs: 600_000 } } },
    );
    closing.push(() => service.close());
    return { service, client: await msgappClient(service) };
  }

  /** The signal that the reader of a session's events received. */
  function watchSignals(service: Service): AbortSignal[] {
    const manager = service.app.get(SessionManager);
    const signals: AbortSignal[] = [];
    const watch = manager.watch.bind(manager);
    jest.spyOn(manager, 'watch').mockImplementation((token, signal) => {
      signals.push(signal);
      return watch(token, signal);
    });
    return signals;
  }

  const codesOf = ({ events }: EventReader) => events.filter(({ type }) => type === 'qr').map(({ data }) => data.qr);

  test('is sent anew each time it changes to all who watch, and the connection is kept alive', async () => {
    const clock = new FakeClock();
    const { client } = await start({ clock });
    const { qr_url } = await client.connect();
    const [one, two] = [await EventReader.open(qr_url), await EventReader.open(qr_url)];
    await Promise.all([one.first('qr'), two.first('qr')]);
    clock.advance(14_999);
    expect(one.text).not.toContain('heartbeat');
    clock.advance(1);
    await eventually(() => one.text.includes(': heartbeat') && two.text.includes(': heartbeat'));
    clock.advance(45_000);
    await eventually(() => codesOf(one).length === 2 && codesOf(two).length === 2);
    expect(codesOf(one)).toEqual(codesOf(two));
    expect(new Set(codesOf(one)).size).toBe(2);
    const [old, fresh] = codesOf(one);
    expect((await client.scan('22670000100', old)).status).toBe(404);
    expect((await client.scan('22670000100', fresh)).status).toBe(204);
    await Promise.all([one.end(), two.end()]);
    expect([one.ended, two.ended]).toEqual([true, true]);
  });

  test('is sent in its current state to a client that comes late', async () => {
    const { client } = await start();
    const { qr_url } = await client.connect();
    const early = await EventReader.open(qr_url);
    await early.first('qr');
    const late = await EventReader.open(qr_url);
    await late.first('qr');
    expect(codesOf(late)).toEqual(codesOf(early));
    expect(late.events[0]).toMatchObject({ type: 'status', data: { status: 'created' } });
  });

  test('ends with the session if nobody scans', async () => {
    const clock = new FakeClock();
    const { client } = await start({ clock });
    const { sessionID, qr_url, expires_at } = await client.connect();
    expect(Date.parse(expires_at) - clock.now()).toBe(180_000);
    const events = await EventReader.open(qr_url);
    await events.first('qr');
    await eventually(() => events.over, Boolean, { clock, stepMs: 10_000 });
    expect(events.ended).toBe(true);
    expect(events.events.at(-1)).toEqual({
      type: 'status',
      data: { sessionID, status: 'expired', reason: 'not_scanned' },
    });
    expect(await call(qr_url)).toMatchObject({ status: 404, body: NOT_FOUND });
  });

  test('is shown to nobody whose token is unknown, used or of another session', async () => {
    const { client } = await start();
    const { qr_url } = await client.connect();
    await client.link('22670000100');
    const unknown = qr_url.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const spent = await linkedUrl(client);
    for (const url of [unknown, spent]) {
      for (const path of [url, `${url}/image`]) {
        const answer = await call(path);
        expect([answer.status, answer.body]).toEqual([404, NOT_FOUND]);
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      }
    }
    expect((await call(`${qr_url}/image`)).status).toBe(200);
  });

  /** The address of a code that was used. */
  async function linkedUrl(client: MsgappClient): Promise<string> {
    const { qr_url } = await client.connect();
    const events = await EventReader.open(qr_url);
    const { data } = await events.first('qr');
    await client.scan('22670000101', data.qr);
    await events.end();
    return qr_url;
  }

  test('can be scanned once, and a session keeps the number that scanned it', async () => {
    const { client } = await start();
    const { sessionID, qr_url } = await client.connect();
    const events = await EventReader.open(qr_url);
    const { data } = await events.first('qr');
    const scans = await Promise.all([
      client.scan('22670000102', data.qr),
      client.scan('22670000103', data.qr),
      client.scan('22670000104', data.qr),
    ]);
    expect(scans.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const winner = ['22670000102', '22670000103', '22670000104'][scans.findIndex(({ status }) => status === 204)];
    expect((await client.status(`?sessionID=${sessionID}`)).body).toMatchObject({ number: winner });
  });

  test('forgets a client that leaves', async () => {
    const { service, client } = await start();
    const signals = watchSignals(service);
    const { qr_url } = await client.connect();
    const events = await EventReader.open(qr_url);
    await events.first('qr');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    events.leave();
    await eventually(() => signals[0]?.aborted);
    const again = await EventReader.open(qr_url);
    await again.first('qr');
    expect(signals).toHaveLength(2);
  });

  test('does not delay the end of the application', async () => {
    const { service, client } = await start();
    service.app.getHttpServer().keepAliveTimeout = 0;
    const { qr_url } = await client.connect();
    const events = await EventReader.open(qr_url);
    await events.first('qr');
    await service.app.close();
    await events.end();
    expect(events.over).toBe(true);
  });

  test('is not cut after 30 s', async () => {
    const clock = new FakeClock();
    const { client } = await start({ clock });
    const { qr_url } = await client.connect();
    const events = await EventReader.open(qr_url);
    await events.first('qr');
    clock.advance(31_000);
    await client.status();
    expect(events.over).toBe(false);
  });

  test('is at an address with the host’s prefix and the host name of the request', async () => {
    const { service } = await start({ configure: (app) => void app.setGlobalPrefix('gateway/eu') });
    const url = `${service.url}/gateway/eu/api/v1`;
    const { key } = await service.client();
    const offer = async (headers: Record<string, string> = {}, path = 'msgapp/web/connect') => {
      const { body } = await call(`${url}/${path}`, { method: 'POST', headers: { 'x-api-key': key, ...headers } });
      return Object(body);
    };
    const plain = await offer();
    expect(plain.qr_url).toBe(`${url}/msgapp/web/qr/${plain.qrToken}`);
    expect((await call(`${plain.qr_url}/image`)).status).toBe(200);
    const queried = await offer({}, 'msgapp/web/connect?x=/y/');
    expect(queried.qr_url).toBe(`${url}/msgapp/web/qr/${queried.qrToken}`);
    // A proxy is not believed unless the host trusts it.
    const proxied = await offer({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' });
    expect(proxied.qr_url).toBe(`${url}/msgapp/web/qr/${proxied.qrToken}`);
  });

  test('is at the proxy’s address if the host trusts its proxy', async () => {
    const platform = adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter({ trustProxy: true });
    if (adapter === 'express') platform.getInstance().set('trust proxy', true);
    const { service } = await start({ platform });
    const { key } = await service.client();
    const { body } = await call(`${service.url}/api/v1/msgapp/web/connect`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example.com' },
    });
    const { qr_url, qrToken } = Object(body);
    expect(qr_url).toBe(`https://api.example.com/api/v1/msgapp/web/qr/${qrToken}`);
  });

  test('has an address without a host name if the caller sends nonsense for one', async () => {
    const { service } = await start();
    const { key } = await service.client();
    const raw = await RawConnection.open(service.port);
    raw.write(
      `POST /api/v1/msgapp/web/connect HTTP/1.1\r\nHost: a.b/c?"<x>\r\nX-Api-Key: ${key}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    await raw.until(({ closed }) => closed);
    expect(raw.received).toMatch(/"qr_url":"\/api\/v1\/msgapp\/web\/qr\/[\w-]{32}"/);
  });
});
