import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';
import { rawRequest } from '../../http/parameters.js';
import { ManagementSettings } from '../management-options.js';

/**
 * Refuses requests to the routes of sessions if a page of another origin has sent them, because browsers add the cookie to such
 * requests too. Browsers say in `Sec-Fetch-Site` where a request comes from. Older browsers say it in `Origin`, which is compared
 * with the option `origins`, because behind a proxy the service itself does not know its public origin. Requests with neither
 * header are refused.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(private readonly settings: ManagementSettings) {}

  /** @throws MessagingError `error.cross_site` */
  canActivate(context: ExecutionContext): boolean {
    const { 'sec-fetch-site': site, origin } = rawRequest(context).headers;
    const isOurs =
      site === undefined ? origin !== undefined && this.settings.origins.has(origin) : site === 'same-origin';
    if (isOurs) return true;
    throw new MessagingError('error.cross_site');
  }
}
