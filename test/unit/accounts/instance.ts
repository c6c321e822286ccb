import { type AccountOptions, resolveAccountSettings } from '../../../src/accounts/account-options.js';
import { AccountService } from '../../../src/accounts/account-service.js';
import { Authenticator } from '../../../src/accounts/keys/authenticator.js';
import { KeyDirectory } from '../../../src/accounts/keys/key-directory.js';
import { KeyRegistry } from '../../../src/accounts/keys/key-registry.js';
import { SignatureDirectory } from '../../../src/accounts/signatures/signature-directory.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import type { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { LocalNotifier, type Notifier } from '../../../src/common/notifier.js';
import type { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventPublisher } from '../../support/events/event-publisher.js';
import type { CountingAccountStore } from './counting-account-store.js';

/** One instance of the service; several may share a store. */
export function instance(
  clock: FakeClock,
  store: CountingAccountStore,
  options: Partial<AccountOptions> & { verifier?: UserTokenVerifier; notifier?: Notifier } = {},
) {
  const { verifier, notifier = new LocalNotifier(), ...rest } = options;
  const settings = resolveAccountSettings({ signatures: ['INFOS', 'ALERTE', 'SERVICE'], ...rest });
  const ids = new UuidGenerator();
  const keys = new KeyDirectory(clock, store, notifier);
  const signatures = new SignatureDirectory(clock, store, settings, notifier);
  return {
    settings,
    signatures,
    authenticator: new Authenticator(clock, keys, settings, verifier),
    accounts: new AccountService(clock, ids, store, new KeyRegistry(clock, ids, store, keys, eventPublisher())),
    names: new SignatureService(clock, store, signatures, eventPublisher()),
  };
}

/** A JWT with this header. Its signature is not valid. */
export function jwt(header: object = { alg: 'HS256', typ: 'JWT' }): string {
  const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${segment(header)}.${segment({ sub: '42' })}.c2lnbmF0dXJl`;
}

/** Lets everything that is ready run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
