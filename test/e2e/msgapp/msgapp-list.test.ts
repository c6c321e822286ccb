import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MsgappService } from '../../../src/msgapp/msgapp-service.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const [ONE, TWO] = ['22670000001', '22670000002'];
const [FROM, OTHER] = ['22670000100', '22670000101'];

interface Page {
  readonly items: readonly { readonly messageID: string; readonly queued_at: string }[];
  readonly next_cursor: string | null;
}

describeService('the listing of messages', (start) => {
  let service: Service;
  let files: FileServer;
  let client: MsgappClient;
  /** The messages of the account, oldest first: texts and files to two numbers from two numbers. */
  const sent: string[] = [];

  beforeAll(async () => {
    files = await FileServer.open();
    service = await startMsgapp(start);
    client = await msgappClient(service);
    await client.link(FROM);
    await client.link(OTHER);
    for (const index of [0, 1, 2, 3, 4, 5]) {
      const fields = {
        to: index % 2 === 0 ? ONE : TWO,
        from: index < 4 ? FROM : OTHER,
        metadata: { index: String(index) },
        ...(index === 5 && { metadata: null }),
      };
      const isFile = index % 3 === 1;
      const reply = isFile
        ? await client.media({ ...fields, mediaUrl: files.url('/photo.png'), caption: 'Voilà' })
        : await client.text({ ...fields, body: `Bonjour ${index}` });
      sent.push(MsgappClient.idOf(reply));
    }
    for (const id of sent) await client.settled(id, 'delivered');
  });
  afterAll(() => files.close());

  const page = async (query = '', of = client): Promise<Page> => {
    const { status, body } = await of.api.call(`msgapp/messages${query && `?${query}`}`);
    if (status !== 200) throw new Error(`No list: ${JSON.stringify(body)}`);
    return body as Page;
  };
  const found = async (query: string) => (await page(query)).items.map(({ messageID }) => sent.indexOf(messageID));

  test('shows texts and files as their look-ups do, newest first', async () => {
    const { items, next_cursor } = await page();
    expect(items).toEqual(await Promise.all([...sent].reverse().map((id) => client.message(id))));
    expect(items[0]).toMatchObject({ body: 'Bonjour 5', media: null, status: 'delivered', metadata: null });
    expect(items[1]).toMatchObject({ body: null, media: { type: 'image' }, metadata: { index: '4' } });
    expect(next_cursor).toBeNull();
  });

  test('comes page by page', async () => {
    const read: number[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { items, next_cursor }: Page = await page(`limit=4${cursor && `&cursor=${cursor}`}`);
      read.push(items.map(({ messageID }) => sent.indexOf(messageID)));
      cursor = next_cursor;
    }
    expect(read).toEqual([
      [5, 4, 3, 2],
      [1, 0],
    ]);
  });

  test('is filtered by recipient, sender, state, time and metadata, which must all match', async () => {
    expect(await found(`to=${ONE}`)).toEqual([4, 2, 0]);
    expect(await found(`from=${OTHER}`)).toEqual([5, 4]);
    expect(await found(`to=${ONE}&from=${OTHER}`)).toEqual([4]);
    expect(await found('status=delivered')).toEqual([5, 4, 3, 2, 1, 0]);
    expect(await found('status=failed')).toEqual([]);
    expect(await found('metadata.index=3')).toEqual([3]);
    expect(await found(`metadata.index=3&to=${ONE}`)).toEqual([]);
    const { items } = await page();
    const moment = items[2]?.queued_at ?? '';
    const when = (holds: (at: string) => boolean) =>
      items.filter(({ queued_at }) => holds(queued_at)).map(({ messageID }) => sent.indexOf(messageID));
    expect(await found(`until=${moment}`)).toEqual(when((at) => at < moment));
    expect(await found(`since=${moment}&limit=500`)).toEqual(when((at) => at >= moment));
  });

  test('shows no codes, no SMS, and nothing of another account', async () => {
    await client.api.post('send/otp', { service: 'shop', number: ONE, channel: 'msgapp' });
    await client.api.sent({ signature: 'INFOS', content: 'x', number: [ONE] });
    expect(await found('')).toEqual([5, 4, 3, 2, 1, 0]);
    expect(await found(`to=${ONE}`)).toEqual([4, 2, 0]);
    const other = await msgappClient(service);
    expect(await page('', other)).toEqual({ items: [], next_cursor: null, searched_until: null });
    const { next_cursor } = await page('limit=1');
    const stolen = await other.api.call(`msgapp/messages?cursor=${next_cursor}`);
    expect([stolen.status, stolen.headers.get('x-error-code')]).toEqual([400, 'invalid_cursor']);
  });

  test.each([
    ['limit=0', 'field_not_integer'],
    ['limit=501', 'field_not_integer'],
    ['cursor=nonsense!', 'invalid_cursor'],
    ['to=+226', 'invalid_number'],
    ['from=x', 'invalid_number'],
    ['status=sleeping', 'field_invalid'],
    ['status=a&status=b', 'field_not_string'],
    ['since=yesterday', 'field_invalid'],
    ['until=2026-02-30', 'field_invalid'],
    ['metadata=x', 'field_not_object'],
  ])('refuses ?%s', async (query, word) => {
    const { status, headers } = await client.api.call(`msgapp/messages?${query}`);
    expect([status, headers.get('x-error-code')]).toEqual([400, word]);
  });

  test('is available to the host’s own code', async () => {
    const msgapp = service.app.get(MsgappService, { strict: false });
    const { items } = await msgapp.list(client.api.accountId, { to: TWO, limit: 2 });
    expect(items.map(({ messageID }) => sent.indexOf(messageID))).toEqual([5, 3]);
  });
});
