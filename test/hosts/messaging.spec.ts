import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AccountService, LedgerService, MessagingModule, MessagingStorage, SmsService } from 'nestjs-messaging';
import { MemoryStorage } from 'nestjs-messaging/testing';
import { type OutgoingSms, SmsTransport, type SubmitResult } from 'nestjs-messaging/transports';

// The same test runs in each host. run.mjs copies it.

class RecordingTransport extends SmsTransport {
  override readonly name = 'recording';
  override readonly repeat = 'at-least-once';
  private hear: (sms: OutgoingSms) => void = () => undefined;
  readonly first = new Promise<OutgoingSms>((resolve) => {
    this.hear = resolve;
  });

  override async start(): Promise<void> {}

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    for (const sms of batch) this.hear(sms);
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  override async stop(): Promise<void> {}
}

/** Nest finds the service by its type, which the host's compiler emits as metadata. */
@Injectable()
class Orders {
  constructor(private readonly sms: SmsService) {}

  confirm(accountId: string, number: string) {
    return this.sms.send(accountId, { signature: 'Shop', content: 'Thank you.', number: [number] });
  }
}

@Module({
  imports: [
    MessagingModule.forRoot({
      signatures: ['Shop', 'Orders', 'News'],
      sms: { tariff: { base: 1, international: 3, home: 'BF' } },
    }),
  ],
  providers: [Orders],
})
class AppModule {}

test('a host replaces our transport and storage by its own, and sends', async () => {
  const transport = new RecordingTransport();
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(SmsTransport)
    .useValue(transport)
    .overrideProvider(MessagingStorage)
    .useValue(new MemoryStorage())
    .compile();
  const app = module.createNestApplication({ logger: ['error'] });
  await app.init();
  try {
    const { id } = await app.get(AccountService).createAccount({ name: 'Shop' });
    await app.get(LedgerService).topUp(id, 5);
    expect(await app.get(Orders).confirm(id, '22670000000')).toMatchObject({ sms_units: 1 });
    expect(await transport.first).toMatchObject({ text: 'Thank you.' });
    expect(app.get(SmsTransport)).toBe(transport);

    // The request goes over HTTP, where bodies are validated.
    await app.listen(0, '127.0.0.1');
    const { key } = await app.get(AccountService).issueKey(id);
    const send = async (body: object) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': key };
      const response = await fetch(`${await app.getUrl()}/api/v1/send/sms`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return response.status;
    };
    expect(await send({ signature: 'Shop', content: 'Thank you.', number: ['22670000000'] })).toBe(200);
    expect(await send({ signature: 'Shop', content: 'Thank you.', number: 'x' })).toBe(400);
  } finally {
    await app.close();
  }
});
