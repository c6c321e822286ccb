import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AdmittedRequest } from './admission.js';
import { admittedBy, type CredentialHeaders, type HttpRequest, rawRequestOf } from './keys/authenticator.js';
import { neededBy } from './keys/needs.decorator.js';
import type { Permission } from './keys/permissions.js';

/** What a request was admitted by, so that it can be looked at again while the caller is given something for long. */
export interface AdmittedCall extends AdmittedRequest {
  readonly headers: CredentialHeaders;
  /** What admitted the caller: our `Authenticator`, or a guard of the host in its place, for which the headers need say nothing. */
  readonly by: object | undefined;
  /** What the route needs. */
  readonly permission: Permission | undefined;
}

/** What the request of a handler was admitted by, for `CallerWatch`. */
export const AdmittedCall = createParamDecorator((_data: unknown, context: ExecutionContext): AdmittedCall => {
  const request = context.switchToHttp().getRequest<HttpRequest & { readonly url?: string; readonly ip?: string }>();
  const { url: target = '', ip } = request;
  const raw = rawRequestOf(request);
  return {
    headers: raw.headers,
    by: admittedBy(raw),
    target,
    ip,
    again: true,
    permission: neededBy(context.getHandler()),
  };
});
