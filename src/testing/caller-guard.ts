import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Caller } from '../accounts/caller.decorator.js';
import { type HttpRequest, rawRequestOf, rememberCaller } from '../accounts/keys/authenticator.js';
import { requestIn } from '../common/http-context.js';

/**
 * Makes a guard that replaces `ApiKeyGuard` in tests of a host's own routes: every request has this caller and needs no key.
 * A send needs an account of that id with units, which the test creates.
 *
 * @param fields the caller; `via` is `key` by default
 * @example
 * ```ts
 * Test.createTestingModule({ … }).overrideGuard(ApiKeyGuard).useValue(callerGuard({ accountId: 'acme' }));
 * await app.get(AccountService).createAccount({ id: 'acme', name: 'Acme' });
 * await app.get(LedgerService).topUp('acme', 10);
 * ```
 */
export function callerGuard(fields: Pick<Caller, 'accountId'> & Partial<Caller>): CanActivate {
  const caller: Caller = { via: 'key', ...fields };
  const guard: CanActivate = {
    canActivate: (context: ExecutionContext) => {
      const raw = rawRequestOf(requestIn<HttpRequest>(context));
      rememberCaller(raw, guard, { kind: 'caller', caller });
      return true;
    },
  };
  return guard;
}
