import type { Answer, Authenticator, CredentialHeaders } from './authenticator.js';
import type { Caller } from './caller.js';

const SEEN = Symbol('nestjs-messaging: who is calling');

/** Node's request, as far as it matters here. */
export interface RawRequest {
  readonly headers: CredentialHeaders;
  [SEEN]?: { readonly by: object; readonly answer: Answer };
}

/** A request as Express (Node's own) or Fastify (wrapping Node's in `raw`) hands it to a handler. */
export interface HttpRequest extends RawRequest {
  readonly raw?: RawRequest;
}

/** Node's request below a framework's. */
export function rawRequestOf(request: HttpRequest): RawRequest {
  return request.raw?.headers === undefined ? request : request.raw;
}

/** Notes on a request what an authenticator (or what a test has in its place) answered, so that nobody has to ask it twice. */
export function rememberCaller(raw: RawRequest, by: object, answer: Answer): void {
  raw[SEEN] = { by, answer };
}

/** What this authenticator answered to this request; another application's answer in the same process is not ours. */
export function callerOf(raw: RawRequest, by: Authenticator): Answer | undefined {
  const seen = raw[SEEN];
  return seen?.by === by ? seen.answer : undefined;
}

/** Whom the last guard let in. */
export function lastCaller(raw: RawRequest): Caller | undefined {
  const answer = raw[SEEN]?.answer;
  return answer?.kind === 'caller' ? answer.caller : undefined;
}
