import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestIn } from '../common/http-context.js';
import { type Caller as CallerShape, type HttpRequest, lastCaller, rawRequestOf } from './keys/authenticator.js';

/** The authenticated caller of a request. */
export interface Caller extends CallerShape {}

/**
 * Gives a handler the caller that `ApiKeyGuard` admitted.
 *
 * @throws Error (a 500) on a route without that guard, because the route would be unprotected
 * @example
 * ```ts
 * @UseGuards(ApiKeyGuard)
 * @Get('invoices')
 * list(@Caller() caller: Caller) { return this.invoices.of(caller.accountId); }
 * ```
 */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): CallerShape => {
  const caller = lastCaller(rawRequestOf(requestIn<HttpRequest>(context)));
  if (caller === undefined) throw new Error('@Caller() is used on a route without ApiKeyGuard.');
  return caller;
});
