import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { type HttpRequest, rawRequestOf, rememberCaller } from '../accounts/authenticator.js';
import type { Caller } from '../accounts/caller.decorator.js';

/**
 * Takes the place of `ApiKeyGuard` in a test of a host's own routes: whoever asks is this caller, without a key.
 *
 * ```ts
 * Test.createTestingModule({ … }).overrideGuard(ApiKeyGuard).useValue(callerGuard({ accountId: 'acme' }))
 * ```
 */
export function callerGuard(who: Pick<Caller, 'accountId'> & Partial<Caller>): CanActivate {
  const caller: Caller = { via: 'key', ...who };
  const guard: CanActivate = {
    canActivate: (context: ExecutionContext) => {
      const raw = rawRequestOf(context.switchToHttp().getRequest<HttpRequest>());
      rememberCaller(raw, guard, { kind: 'caller', caller });
      return true;
    },
  };
  return guard;
}
