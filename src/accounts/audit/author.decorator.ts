import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestIn } from '../../common/http-context.js';
import { type Caller, type HttpRequest, lastCaller, rawRequestOf } from '../keys/authenticator.js';
import type { Author as AuthorShape } from './audit-entry.js';

/** The caller as the author of a change, with the client's address according to the framework. */
export interface Author extends AuthorShape {}

/** Gives a handler its caller as the author of a change, for the audit log. */
export const Author = createParamDecorator((_data: unknown, context: ExecutionContext) => authorIn(context));

/** The author that `@Author()` gives to a handler. */
export function authorIn(context: ExecutionContext): AuthorShape {
  const request = requestIn<HttpRequest & { readonly ip?: string }>(context);
  return authorOf(lastCaller(rawRequestOf(request)), request.ip);
}

function authorOf(caller: Caller | undefined, address: string | undefined): AuthorShape {
  if (caller === undefined) return { kind: 'host', address };
  const { user, keyId: id, accountId } = caller;
  if (user) return { kind: user.operator === undefined ? 'user' : 'operator', id: user.subject, address };
  return id === undefined ? { kind: 'user', id: accountId, address } : { kind: 'key', id, address };
}
