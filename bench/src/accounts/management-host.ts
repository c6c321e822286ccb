import { type DynamicModule, Module } from '@nestjs/common';
import { ManagementService, MessagingModule, SandboxModule, SystemClock, TypeormStorage } from 'nestjs-messaging';
import { MINUTE_MS } from '../time.js';

/** The time between two rounds that roll up usage. */
const ROLL_UP_MS = 5 * MINUTE_MS;

/**
 * Starts the rounds that roll up usage one after the other without a pause. Otherwise the first would start after five
 * minutes.
 */
class RollingClock extends SystemClock {
  override after(ms: number, task: () => void): () => void {
    return super.after(ms === ROLL_UP_MS ? 100 : ms, task);
  }
}

/**
 * A host with all parts that users of an account need.
 * @param delivers whether it delivers messages, and rolls up usage without a pause
 */
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

/** Makes the links with which a user of the account and an operator sign in. */
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
