import type { UserSessionView as SignedIn } from '../../management/session/session.api.js';
import type { Caller, CallOptions } from '../caller.js';

export type { UserSessionView as SignedIn } from '../../management/session/session.api.js';

/** Sign-in, for pages: the service keeps the session in a cookie that scripts cannot read. */
export class SessionRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Signs in by the secret of a one-time link, or by what the host's `UserAuthenticator` takes. */
  exchange(
    proof: { readonly token: string } | { readonly credentials: unknown },
    options?: CallOptions,
  ): Promise<SignedIn> {
    return this.#post('exchange', proof, options);
  }

  /** Gets a new access token by the cookie of the session. */
  refresh(options?: CallOptions): Promise<SignedIn> {
    return this.#post('refresh', {}, options);
  }

  /**
   * Signs out. The cookie of the session says which session ends. In a frame, where the browser sends no cookie, the user token
   * says it, if the client has one.
   */
  end(options?: CallOptions): Promise<{ readonly success: true }> {
    return this.#post('end', {}, options, 'if-any');
  }

  #post<T>(step: string, body: object, options?: CallOptions, credentials: 'none' | 'if-any' = 'none'): Promise<T> {
    return this.#caller.json({ method: 'POST', path: ['session', step], body, repeat: 'unsafe', credentials }, options);
  }
}
