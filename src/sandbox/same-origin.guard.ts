import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { rawRequest } from '../http/parameters.js';

/**
 * Refuses requests that a page of another origin sends, as the sandbox's routes ask for no key. Browsers say where a request
 * comes from in `Sec-Fetch-Site`, older ones in `Origin`; programs send neither and are accepted.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  /** @throws MessagingError `error.sandbox_cross_site` */
  canActivate(context: ExecutionContext): boolean {
    const { headers } = rawRequest(context);
    const site = headers['sec-fetch-site'];
    const { origin } = headers;
    const host = headers.host ?? headers[':authority'];
    if (site === undefined ? origin === undefined || hostOf(origin) === host : site === 'same-origin') return true;
    throw new MessagingError('error.sandbox_cross_site');
  }
}

/** Host and port of an origin; undefined for `null` and for what is none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
