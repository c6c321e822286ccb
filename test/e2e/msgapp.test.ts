import { beforeAll, expect, it } from '@jest/globals';
import { MsgappClient, msgappClient, startMsgapp } from '../support/msgapp-app.js';
import { describeServices, type Service } from '../support/services.js';

describeServices('the messaging-app channel', (start) => {
  let service: Service;
  beforeAll(async () => {
    service = await startMsgapp(start);
  });

  it('links a number, sends a text and tells what became of it', async () => {
    const client = await msgappClient(service, 10);
    await client.link('22670000100');
    const id = MsgappClient.idOf(await client.text({ to: '22671000001', body: 'Bonjour 👋' }));
    expect(await client.settled(id, 'delivered')).toMatchObject({ status: 'delivered' });
    expect(await client.phone('22671000001')).toEqual([
      expect.objectContaining({
        messageID: id,
        channel: 'msgapp',
        from: '22670000100',
        text: 'Bonjour 👋',
        media: null,
      }),
    ]);
  });
});
