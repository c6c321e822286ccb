import { expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { CampaignCalls } from '../../support/campaigns/campaign-app.js';
import { call } from '../../support/http/http-client.js';
import { describeServices } from '../../support/mounting/services.js';

describeServices('a campaign with variables', (start) => {
  test('from a file of customers to the phones: each gets its own text, charged by itself', async () => {
    const clock = new FakeClock();
    const options = { campaigns: {}, clock: { useValue: clock } };
    const service = await start(options, { imports: [SandboxModule.forRoot()] });
    const client = await service.client(100);
    const campaigns = new CampaignCalls(client);
    const { id } = await campaigns.create({ content: 'Bonjour {name}, votre code {{{code}}}.' });
    const long = 'a'.repeat(160);
    const file = `\ufeffcode;town;mobile;name\r\nA1;Bobo;22670000001;"Awa ""la"" Kaboré"\r\nB2;Ouaga;22670000002;${long}\r\n;Dori;22670000003;\r\n`;
    expect(await campaigns.csv(id, file, '?number=mobile')).toMatchObject({ imported: 3, invalid: 0 });
    expect(await campaigns.quote(id)).toMatchObject({
      units: 4,
      distribution: [
        { segments: 1, recipients: 2, units: 2 },
        { segments: 2, recipients: 1, units: 2 },
      ],
      longest: { number: '22670000002', segments: 2 },
    });
    await campaigns.act(id, 'start');
    const done = await campaigns.until(id, ({ status, counts }) => status === 'completed' && counts.delivered === 3, {
      clock,
    });
    expect(done).toMatchObject({ status: 'completed', units: 4, refunded_units: 0 });
    const texts = async (number: string) => {
      const { body } = await call(`${service.url}/sandbox/phones/${number}/messages`);
      return (body as { text: string }[]).map(({ text }) => text);
    };
    expect(await texts('22670000001')).toEqual(['Bonjour Awa "la" Kaboré, votre code {A1}.']);
    expect(await texts('22670000002')).toEqual([`Bonjour ${long}, votre code {B2}.`]);
    expect(await texts('22670000003')).toEqual(['Bonjour , votre code {}.']);
    expect(await client.balance()).toBe(96);
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  });
});
