import { type DynamicModule, Module } from '@nestjs/common';
import { MessagingModule, SandboxModule, SessionManager, TypeormStorage } from 'nestjs-messaging';

/**
 * A host with a messaging-app channel on the sandbox.
 * @param perMinute how many messages a number writes in a minute. Default: as many as it can
 */
export function msgappHost(url: string, perMinute = Number.POSITIVE_INFINITY): DynamicModule {
  @Module({})
  class MsgappHost {}
  return {
    module: MsgappHost,
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        sms: { tariff: { base: 1, international: 3, home: 'BF' } },
        msgapp: {
          tariff: { text: 1, media: 2 },
          credentialsKey: 'bench-bench-bench-bench-bench-0123456789',
          pacing: { perMinute },
        },
      }),
      SandboxModule.forRoot(),
    ],
  };
}

/**
 * Links a number to the account.
 * @param origin the origin of the host
 */
export async function linkNumber(
  app: { get<T>(token: abstract new (...args: never[]) => T, options: { strict: false }): T },
  accountId: string,
  origin: string,
): Promise<void> {
  const sessions = app.get(SessionManager, { strict: false });
  const { qrToken } = await sessions.connect(accountId);
  const code = await sessions.currentQr(qrToken, 10_000, new AbortController().signal);
  const answer = await fetch(`${origin}/sandbox/phones/22670000100/scan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ qr: code?.qr }),
  });
  if (answer.status !== 204) throw new Error(`The scan was answered ${answer.status}.`);
}
