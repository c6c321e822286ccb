import { type DynamicModule, Module } from '@nestjs/common';
import { MessagingModule, OtpService, TypeormStorage } from 'nestjs-messaging';
import { type OutgoingSms, SmsTransport, type SubmitResult } from 'nestjs-messaging/transports';

/** Remembers the code that each number has received. */
export class CodeCatcher extends SmsTransport {
  readonly name = 'catcher';
  readonly repeat = 'idempotent';
  readonly codes = new Map<string, string>();
  private look: () => void = () => undefined;

  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  async submit(batch: readonly OutgoingSms[]): Promise<SubmitResult[]> {
    for (const { number, text } of batch) this.codes.set(number, /\b\d{4}\b/.exec(text)?.[0] ?? '');
    this.look();
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  /** Resolves when all of these numbers have a code. */
  async of(numbers: readonly string[]): Promise<[number: string, code: string][]> {
    await new Promise<void>((done) => {
      this.look = () => {
        if (numbers.every((number) => this.codes.has(number))) done();
      };
      this.look();
    });
    return numbers.map((number) => [number, this.codes.get(number) ?? '']);
  }
}

/** A host with one-time passcodes and no limits on them. */
export function otpHost(url: string, dispatch: boolean): DynamicModule {
  const transport = new CodeCatcher();
  @Module({})
  class OtpHost {}
  return {
    module: OtpHost,
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        role: dispatch ? 'all' : 'api',
        sms: { tariff: { base: 1, international: 3, home: 'BF' }, transport: { useValue: transport } },
        otp: {
          pepper: 'bench-bench-bench-bench-bench-bench-0123456789',
          limits: 'none',
          maxGuessChance: 1,
          validitySeconds: 3600,
        },
      }),
    ],
  };
}

/** Sends a code to each number and returns the codes that arrived. */
export async function sendCodes(
  app: { get<T>(token: abstract new (...args: never[]) => T, options: { strict: false }): T },
  accountId: string,
  numbers: readonly string[],
): Promise<[number: string, code: string][]> {
  const otp = app.get(OtpService, { strict: false });
  const catcher = app.get(SmsTransport, { strict: false });
  for (let at = 0; at < numbers.length; at += 500) {
    await Promise.all(numbers.slice(at, at + 500).map((number) => otp.send(accountId, { service: 'Bench', number })));
  }
  return catcher instanceof CodeCatcher ? catcher.of(numbers) : [];
}
