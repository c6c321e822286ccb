import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { OutgoingMedia } from '../../../../src/msgapp/msgapp-transport.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { CloudSender } from '../../../../src/transports/whatsapp-cloud/cloud-sender.js';
import { GraphClient } from '../../../../src/transports/whatsapp-cloud/graph-client.js';
import { refusalOf } from '../../../../src/transports/whatsapp-cloud/graph-errors.js';
import { CLOUD_NUMBER, GraphDouble } from '../../../support/transports/cloud/graph-double.js';

const TO = { number: '22670000002' };
const HELLO = { text: 'Bonjour' };

let graph: GraphDouble;
let clock: FakeClock;
let expired: number;
let sender: CloudSender;

beforeAll(async () => {
  graph = await GraphDouble.open();
});

afterAll(() => graph.close());

beforeEach(() => {
  graph.calls.length = 0;
  graph.next.length = 0;
  clock = new FakeClock();
  expired = 0;
  sender = new CloudSender(clientOf(graph.baseUrl), CLOUD_NUMBER, clock, () => expired++);
});

function clientOf(baseUrl: string): GraphClient {
  return new GraphClient({ baseUrl, requestMs: 20_000, uploadMs: 90_000 });
}

function file(bytes: string, kind: OutgoingMedia['kind'] = 'document', caption?: string): OutgoingMedia {
  const content = Buffer.from(bytes);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return {
    kind,
    mimetype: 'text/plain',
    fileName: 'facture.txt',
    size: content.length,
    sha256,
    caption,
    async *open() {
      yield content.subarray(0, 3);
      yield content.subarray(3);
    },
  };
}

describe('a number of the Cloud API', () => {
  test('sends a text with its token, and takes the id of the answer', async () => {
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'sent', reference: 'wamid.1' });
    const [call] = graph.messages;
    expect(call?.path).toBe(`/v25.0/${CLOUD_NUMBER.phoneNumberId}/messages`);
    expect(call?.token).toBe(`Bearer ${CLOUD_NUMBER.accessToken}`);
    expect(call?.json).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: TO.number,
      type: 'text',
      text: { body: 'Bonjour', preview_url: false },
    });
  });

  test('never puts a user id into the field for numbers, because the API would drop the message', async () => {
    await sender.send({ userId: 'BR.1502576394655843' }, HELLO);
    expect(graph.messages[0]?.json).toMatchObject({ recipient: 'BR.1502576394655843' });
    expect(graph.messages[0]?.json).not.toHaveProperty('to');
  });

  test('sends a template with the values of its variables and buttons', async () => {
    const buttons = [{ kind: 'url', index: 0, value: '482913' } as const];
    await sender.send(TO, { template: { name: 'code', language: 'fr', variables: ['482913'], buttons } });
    const parameters = [{ type: 'text', text: '482913' }];
    const components = [
      { type: 'body', parameters },
      { type: 'button', sub_type: 'url', index: '0', parameters },
    ];
    const template = { name: 'code', language: { code: 'fr' }, components };
    expect(graph.messages[0]?.json).toMatchObject({ type: 'template', template });
  });

  test('uploads a file once, and then sends it by its id', async () => {
    await sender.send(TO, { media: file('ligne', 'document', 'Votre facture') });
    await sender.send({ number: '22670000003' }, { media: file('ligne', 'document', 'La même') });
    expect(graph.uploads).toHaveLength(1);
    const form = graph.uploads[0]?.form;
    const sent = form?.get('file');
    expect(sent instanceof Blob && (await sent.text())).toBe('ligne');
    expect(form?.get('messaging_product')).toBe('whatsapp');
    expect(graph.messages.map(({ json }) => json?.document)).toEqual([
      { id: 'file-1', filename: 'facture.txt', caption: 'Votre facture' },
      { id: 'file-1', filename: 'facture.txt', caption: 'La même' },
    ]);
    await sender.send(TO, { media: file('autre') });
    clock.advance(29 * 24 * 3_600_000);
    await sender.send(TO, { media: file('ligne') });
    expect(graph.uploads).toHaveLength(3);
  });

  test('uploads a file again if the API could not read it', async () => {
    await sender.send(TO, { media: file('ligne') });
    graph.refuse(131053);
    expect(await sender.send(TO, { media: file('ligne') })).toEqual({ kind: 'retry', error: 'cloud_131053' });
    await sender.send(TO, { media: file('ligne') });
    expect(graph.uploads).toHaveLength(2);
  });

  test.each([4, 80007, 130429, 131048, 131056, 133016])('rests after %i without asking again', async (code) => {
    graph.refuse(code);
    const until = clock.now() + 10_000;
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'postponed', error: `cloud_${code}`, until });
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'postponed', error: 'cloud_resting', until });
    expect(graph.messages).toHaveLength(1);
    clock.advance(10_000);
    expect((await sender.send(TO, HELLO)).kind).toBe('sent');
  });

  test('rests longer each time, up to ten minutes, until a message is taken', async () => {
    const rest = async () => {
      graph.refuse(130429);
      const result = await sender.send(TO, HELLO);
      const ms = result.kind === 'postponed' ? result.until - clock.now() : 0;
      clock.advance(ms);
      return ms;
    };
    const rests: number[] = [];
    for (let time = 0; time < 8; time++) rests.push(await rest());
    expect(rests).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]);
    await sender.send(TO, HELLO);
    expect(await rest()).toBe(10_000);
  });

  test.each([131026, 131047, 132001, 131062])('refuses for good after %i', async (code) => {
    graph.refuse(code);
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'refused', error: `cloud_${code}` });
  });

  test('reports an expired token, and the message waits', async () => {
    graph.refuse(190, 401);
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'retry', error: 'cloud_190' });
    expect(expired).toBe(1);
  });

  test('does not repeat what the API may have taken', async () => {
    graph.next.push('cut', { status: 200, body: {} }, { status: 500, body: { error: { code: 2 } } });
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'unknown', error: 'cloud_connection_lost' });
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'unknown', error: 'cloud_no_id' });
    expect(await sender.send(TO, HELLO)).toEqual({ kind: 'unknown', error: 'cloud_2' });
    expect(graph.messages).toHaveLength(3);
  });

  test('tries again if the API was not reached, or if only the upload has no clear end', async () => {
    graph.next.push('cut');
    const lost = { kind: 'retry', error: 'cloud_connection_lost' };
    expect(await sender.send(TO, { media: file('ligne') })).toEqual(lost);
    const closed = await GraphDouble.open();
    const { baseUrl } = closed;
    await closed.close();
    const away = new CloudSender(clientOf(baseUrl), CLOUD_NUMBER, clock);
    expect(await away.send(TO, HELLO)).toEqual({ kind: 'retry', error: 'cloud_not_reached' });
  });

  test('follows no redirect with its token', async () => {
    graph.next.push({ status: 307, body: {}, headers: { location: `${graph.baseUrl}/elsewhere` } });
    expect((await sender.send(TO, HELLO)).kind).toBe('unknown');
    expect(graph.calls).toHaveLength(1);
  });
});

test('decides by the code, and by the HTTP status only if the code is unknown', () => {
  expect(refusalOf(500, 131047)).toBe('refused');
  expect(refusalOf(400, 130429)).toBe('rest');
  expect([400, 401, 429, 503].map((status) => refusalOf(status, undefined))).toEqual([
    'refused',
    'expired',
    'rest',
    'unclear',
  ]);
});
