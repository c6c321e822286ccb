import type { ArgumentsHost } from '@nestjs/common';

/**
 * Returns the framework's request of an HTTP context. Nest's `switchToHttp` would make three functions for each call, and a
 * request to a route calls it for each parameter.
 */
export function requestIn<T>(context: ArgumentsHost): T {
  return context.getArgByIndex<T>(0);
}

/** Returns the framework's response of an HTTP context. */
export function responseIn<T>(context: ArgumentsHost): T {
  return context.getArgByIndex<T>(1);
}
