import { type DynamicModule, Module } from '@nestjs/common';
import { ManagementService, MessagingModule, SandboxModule, SystemClock, TypeormStorage } from 'nestjs-messaging';
import { MINUTE_MS } from '../time.js';

/** How often usage is rolled up. */
const ROLL_UP_MS = 5 * MINUTE_MS;

/** Lets the rounds that roll up usage follow each other at once; the first would be five minutes after the start. */
class RollingClock extends SystemClock {
  override after(ms: number, task: () => void): () => void {
    return super.after(ms === ROLL_UP_MS ? 100 : ms, task);
  }
}

/** A host with all that people of an account use. @param delivers whether it hands over, and rolls up usage without a pause */
export function managementHost(url: string, delivers: boolean): DynamicModule {
  @Module({})
  class ManagementHost {}
  return {
    module: ManagementHost,
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        role: delivers ? 'all' : 'api',
        ...(delivers && { clock: RollingClock }),
        sms: { tariff: { base: 1, international: 3, home: 'BF' } },
        msgapp: { tariff: { text: 1, media: 2 }, credentialsKey: 'bench-bench-bench-bench-bench-0123456789' },
        webhooks: { pepper: 'the bench derives nothing from it: 0123456789' },
        management: { secret: 'the bench signs nothing that lasts: 0123456789' },
      }),
      SandboxModule.forRoot(),
    ],
  };
}

/** What somebody of the account, and an operator, sign in with. */
export async function signInLinks(
  app: { get<T>(token: abstract new (...args: never[]) => T, options: { strict: false }): T },
  account: string,
): Promise<{ readonly admin: string; readonly operator: string }> {
  const management = app.get(ManagementService, { strict: false });
  const [admin, operator] = [
    await management.link({ account, role: 'admin' }),
    await management.link({ role: 'operator' }),
  ];
  return { admin: admin.secret, operator: operator.secret };
}
