import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Caller as CallerShape, type HttpRequest, lastCaller, rawRequestOf } from './authenticator.js';

/** Who makes a request. */
export interface Caller extends CallerShape {}

/**
 * The caller that `ApiKeyGuard` let in, as a handler's parameter. Without that guard on the route it throws a plain error
 * (a 500): the route would be open.
 *
 * ```ts
 * @UseGuards(ApiKeyGuard)
 * @Get('invoices')
 * list(@Caller() caller: Caller) { return this.invoices.of(caller.accountId); }
 * ```
 */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): CallerShape => {
  const caller = lastCaller(rawRequestOf(context.switchToHttp().getRequest<HttpRequest>()));
  if (caller === undefined) throw new Error('@Caller() is used on a route without ApiKeyGuard.');
  return caller;
});
