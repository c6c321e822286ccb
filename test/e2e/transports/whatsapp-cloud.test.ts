import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { WhatsappCloudMsgappTransport } from 'nestjs-messaging/whatsapp-cloud';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { until } from '../../support/common/until.js';
import { describeServices, type Service } from '../../support/mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { CLOUD_APP, CLOUD_GIVEN, GraphDouble } from '../../support/transports/cloud/graph-double.js';

const TO = '22670000002';

describeServices('the channel over the Cloud API', (start) => {
  let graph: GraphDouble;
  let service: Service;
  let client: MsgappClient;

  beforeAll(async () => {
    graph = await GraphDouble.open();
    const transport = WhatsappCloudMsgappTransport.forRoot({ ...CLOUD_APP, baseUrl: graph.baseUrl });
    service = await startMsgapp(start, { msgapp: { ...MSGAPP, transport } });
  });
  beforeEach(async () => {
    graph.calls.length = 0;
    client = await msgappClient(service);
  });
  afterAll(() => graph.close());

  const connect = (body: object = CLOUD_GIVEN) => client.api.post('msgapp/web/connect', body);

  async function linked(): Promise<string> {
    const { status, body } = await connect();
    expect(status).toBe(200);
    await until(
      () => client.sessions(),
      ([session]) => session?.status === 'connected',
    );
    return String(Object(body).sessionID);
  }

  test('links a number by its credentials, which are stored encrypted and shown to nobody', async () => {
    const sessionId = await linked();
    expect(await client.sessions()).toMatchObject([{ sessionID: sessionId, number: '22670000001', reason: 'linked' }]);
    expect(JSON.stringify(await client.status())).not.toContain(CLOUD_GIVEN.access_token);
    const store = service.app.get(SessionStore, { strict: false });
    const stored = [...(await store.credentials(sessionId, 'whatsapp-cloud', ['number'])).values()];
    expect(stored).toHaveLength(1);
    expect(stored.join()).not.toContain(CLOUD_GIVEN.access_token);
    expect(await store.findLinked('msgapp', CLOUD_GIVEN.phone_number_id)).toMatchObject({ id: sessionId });
    expect(await store.findLinked('msgapp', '1')).toBeUndefined();
  });

  test.each([
    ['no credentials', {}, 'field_missing'],
    ['an id that is none', { ...CLOUD_GIVEN, phone_number_id: '../me' }, 'field_invalid'],
    ['a token with a line break', { ...CLOUD_GIVEN, access_token: 'a\r\nX: b' }, 'field_invalid'],
    ['a token that Meta refuses', { ...CLOUD_GIVEN, access_token: 'EAAG-expired' }, 'credentials_refused'],
  ])('creates no session for %s', async (_, body, word) => {
    const { status, headers } = await connect(body);
    expect([status, headers.get('x-error-code')]).toEqual([400, word]);
    expect(await client.sessions()).toEqual([]);
  });

  test('creates no session while Meta does not answer', async () => {
    graph.next.push('cut');
    const { status, headers } = await connect();
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(await client.sessions()).toEqual([]);
  });

  test('sends a text, and refunds one that Meta refuses because the 24-hour window is closed', async () => {
    await linked();
    await client.settled(MsgappClient.idOf(await client.text({ to: TO, body: 'Bonjour' })), 'sent');
    graph.refuse(131047);
    const late = MsgappClient.idOf(await client.text({ to: TO, body: 'Bonjour' }));
    expect(await client.settled(late, 'failed')).toMatchObject({ error: 'cloud_131047', refunded_units: 1 });
  });

  test('ends the session when the token has expired, and refunds what waits', async () => {
    const sessionId = await linked();
    graph.refuse(190, 401);
    const id = MsgappClient.idOf(await client.text({ to: TO, body: 'Bonjour' }));
    expect(await client.settled(id, 'failed')).toMatchObject({ error: 'logged_out', refunded_units: 1 });
    expect(await client.sessions()).toMatchObject([
      { sessionID: sessionId, status: 'logged_out', reason: 'token_expired' },
    ]);
    expect((await client.text({ to: TO, body: 'Bonjour' })).status).toBe(409);
  });
});
