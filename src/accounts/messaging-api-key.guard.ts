import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { MessagingError } from '../common/errors.js';
import { AccountSettings } from './account-settings.js';
import { type Answer, Authenticator } from './authenticator.js';
import { CHALLENGE } from './challenge.js';
import { deprecationHeaders } from './deprecation-headers.js';
import { callerOf, type HttpRequest, type RawRequest, rawRequestOf, rememberCaller } from './request-caller.js';

/**
 * Lets in who the `Authenticator` knows, on our own controllers: a refusal is a `MessagingError` for our filter. What the
 * edge has already found out about a request is not asked again.
 */
@Injectable()
export class MessagingApiKeyGuard implements CanActivate {
  private readonly deprecation: readonly (readonly [string, string])[];

  constructor(
    private readonly authenticator: Authenticator,
    protected readonly settings: AccountSettings,
    protected readonly adapterHost: HttpAdapterHost,
  ) {
    this.deprecation = Object.entries(deprecationHeaders(settings));
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const raw = rawRequestOf(http.getRequest<HttpRequest>());
    const response = http.getResponse<object>();
    const answer = callerOf(raw, this.authenticator) ?? this.authenticator.authenticate(raw.headers);
    return answer instanceof Promise
      ? answer.then((known) => this.admit(known, raw, response))
      : this.admit(answer, raw, response);
  }

  private admit(answer: Answer, raw: RawRequest, response: object): boolean {
    const { httpAdapter } = this.adapterHost;
    rememberCaller(raw, this.authenticator, answer);
    if (answer.kind === 'refused') {
      httpAdapter.setHeader(response, 'WWW-Authenticate', CHALLENGE);
      throw new MessagingError(answer.code);
    }
    if (answer.caller.via === 'legacy-bearer') {
      // The host may have links of its own; the other two have one value.
      for (const [name, value] of this.deprecation) {
        if (name === 'Link') httpAdapter.appendHeader(response, name, value);
        else httpAdapter.setHeader(response, name, value);
      }
    }
    return true;
  }
}
