import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { exchangeOf } from './exchange.js';
import { rawRequest } from './raw-request.js';

/**
 * An `AbortSignal` that is aborted when the answer is no longer waited for: the request's time is over, or the client
 * has hung up. It costs nothing to handlers that do not ask for it.
 */
export const RequestSignal = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const req = rawRequest(context);
  return exchangeOf(req)?.signal ?? new AbortController().signal;
});
