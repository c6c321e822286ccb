import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestIn } from '../common/http-context.js';
import type { AdmittedRequest } from './admission.js';
import { admittedBy, type CredentialHeaders, type HttpRequest, rawRequestOf } from './keys/authenticator.js';
import { neededBy } from './keys/needs.decorator.js';
import type { Permission } from './keys/permissions.js';

/**
 * An admitted request, with the object that admitted it and the permission that it needed. During a long answer, such
 * as a stream, the admission is repeated with these.
 */
export interface AdmittedCall extends AdmittedRequest {
  readonly headers: CredentialHeaders;
  /**
   * The object that admitted the caller: our `Authenticator`, or a guard of the host that replaces it. Such a guard
   * need not read the headers.
   */
  readonly by: object | undefined;
  /** The permission that the route needs. */
  readonly permission: Permission | undefined;
}

/** Gives a handler its admitted request, for `CallerWatch`. */
export const AdmittedCall = createParamDecorator((_data: unknown, context: ExecutionContext): AdmittedCall => {
  const request = requestIn<HttpRequest & { readonly url?: string; readonly ip?: string }>(context);
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
