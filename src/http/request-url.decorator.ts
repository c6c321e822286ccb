import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { pathOf } from './route-table.js';

/** A request as Express and Fastify show it; protocol and host are what the host's `trust proxy` makes of them. */
interface PlatformRequest {
  readonly protocol: string;
  readonly host: string | undefined;
  readonly originalUrl: string;
}

/** What `Host` may be (RFC 9112 section 3.2): a caller writes it. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** The URL that the request was made to, without its query; only the path when the request names no host. */
export const RequestUrl = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const { protocol, host, originalUrl } = context.switchToHttp().getRequest<PlatformRequest>();
  const path = pathOf(originalUrl);
  return host !== undefined && HOST.test(host) ? `${protocol}://${host}${path}` : path;
});
