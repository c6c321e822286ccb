import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';
import { rawRequest } from '../../http/parameters.js';
import { ManagementSettings } from '../management-options.js';

/**
 * Refuses requests to the routes of sessions that a page of another origin has sent: browsers add the cookie to these too.
 * Browsers say in `Sec-Fetch-Site` where a request comes from, older ones in `Origin`, which is compared with the option
 * `origins`: behind a proxy nobody else knows under which origin the service is seen. What sends neither is refused.
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
