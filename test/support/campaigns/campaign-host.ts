import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { CampaignRunSettings } from '../../../src/campaigns/run/run-settings.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import type { SendStep } from '../../../src/outbox/accept/send-step.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { dataSourceFor } from '../../../src/storage/engine/data-source.js';
import type { Database } from '../../../src/storage/engine/database.js';
import type { CampaignHostOrder } from './campaign-process.js';

const { database, leaseMs, slice, naive = false }: CampaignHostOrder = JSON.parse(process.env.ORDER ?? '{}');

const source = await dataSourceFor(database);
await source.initialize();
const storage = new TypeormStorage({ database: source });

/** Runs the step of a send in a transaction of its own. */
class StepStore {
  constructor(private readonly database: Database) {}

  run(step: SendStep | undefined, id: string, units: number): Promise<void> {
    const { dialect } = this.database;
    return this.database.write(function* () {
      if (!step?.check || (yield* step.check(dialect)) !== undefined) return;
      for (const statement of step.write(dialect, { id, recipients: [{ units }] })) yield statement;
    });
  }
}

if (naive) {
  // The fault of two transactions: first the SMS is accepted, then its recipients leave the campaign.
  const accept = SmsService.prototype.accept;
  SmsService.prototype.accept = async function (accountId, sms, { stepOf, ...options } = {}) {
    const accepted = await accept.call(this, accountId, sms, options);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { smsID, sms_units } = Object(accepted.reply);
    await storage.store(StepStore).run(stepOf?.(String(smsID)), String(smsID), Number(sms_units));
    return accepted;
  };
}

const module = await Test.createTestingModule({
  imports: [
    MessagingModule.forRoot({
      storage: { useValue: storage },
      signatures: ['INFOS'],
      dispatch: { pollMs: 10 },
      sms: { tariff: { base: 1, international: 1, home: 'BF' } },
      campaigns: {},
    }),
  ],
})
  .overrideProvider(CampaignRunSettings)
  .useValue({ leaseMs, slice, maxWaiting: 100_000 } satisfies CampaignRunSettings)
  .compile();
await module.init();
process.stdout.write('READY\n');
process.on('disconnect', () => process.exit());
