import { expect, test } from '@jest/globals';
import { MessagingClient } from '../../../src/client/index.js';
import { MAX_PAGE_BYTES } from '../../../src/common/listing/page.js';
import { describeServices } from '../../support/mounting/services.js';

describeServices('lists of long texts', (start) => {
  test('have pages of about 1 MB, which a client that follows `next_cursor` reads to the end', async () => {
    const service = await start();
    const client = await service.client(30_000);
    // 255 segments, the longest text that is allowed.
    const content = 'a'.repeat(255 * 153);
    const sent: string[] = [];
    for (let count = 0; count < 60; count++) {
      sent.push((await client.sent({ signature: 'INFOS', content, number: ['22670000001'] })).smsID);
    }
    const { status, body } = await client.call('sms?limit=500');
    expect(status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(1.1 * MAX_PAGE_BYTES);
    const page = body as { items: unknown[]; next_cursor: string | null };
    expect([page.items.length > 20, typeof page.next_cursor]).toEqual([true, 'string']);

    const api = new MessagingClient({ baseUrl: client.url, apiKey: client.key });
    const listed: string[] = [];
    for await (const { smsID } of api.sms.list({ limit: 500 })) listed.push(smsID);
    expect(listed).toEqual(sent.toReversed());

    const found: string[] = [];
    for await (const { smsID } of api.sms.list({ limit: 500, number: '22670000001' })) found.push(smsID);
    expect(found).toEqual(sent.toReversed());
  });
});
